import { type LinkNames, linkNames } from "@virtkit/api/network";
import type { Network } from "@virtkit/api/schema";
import { NetworkSetupError } from "../network-setup-error.ts";

const maxNameLength = 15;

/**
 * The link names that belong to a Pod interface. Throws a {@link NetworkSetupError} if the kernel
 * would refuse one of them: over 15 characters, or with a character that has a meaning elsewhere.
 */
export function checkedLinkNames(podInterface: string, network: Network): LinkNames {
  const names = linkNames(podInterface, network);
  for (const name of Object.values(names)) checkLinkName(name, podInterface);
  return names;
}

function checkLinkName(name: string, podInterface: string): void {
  if (name.length <= maxNameLength && /^[A-Za-z0-9_][A-Za-z0-9_.@-]*$/.test(name)) return;
  const message = `the Pod interface ${JSON.stringify(podInterface)} needs a link ${JSON.stringify(name)}; have the CNI use a name of at most 11 letters, digits, ".", "-" or "_"`;
  throw new NetworkSetupError("NETWORK_LINK_NAME_INVALID", message, { path: podInterface });
}
