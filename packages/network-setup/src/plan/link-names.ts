import { isSecondary } from "@virtkit/api/network";
import type { Network } from "@virtkit/api/schema";
import { NetworkSetupError } from "../network-setup-error.ts";

const maxNameLength = 15;

/** The names of the links that belong to one interface of the Pod. */
export interface LinkNames {
  /** What the CNI called it; later the placeholder that keeps its address. */
  readonly pod: string;
  readonly bridge: string;
  /** The interface itself once it is a port of the bridge. */
  readonly port: string;
  readonly tap: string;
}

/**
 * The names that go with a Pod interface: KubeVirt's, so that what it wired can be found. Throws a
 * {@link NetworkSetupError} where the kernel would refuse one of them: over 15 characters, or with a
 * character that has a meaning elsewhere.
 */
export function linkNames(podInterface: string, network: Network): LinkNames {
  const stem = podInterface.startsWith("pod") ? podInterface.slice(3) : podInterface;
  const names = {
    pod: podInterface,
    bridge: `k6t-${stem}`,
    port: `${stem}-nic`,
    tap: isSecondary(network) ? `tap${podInterface.slice(3)}` : "tap0",
  };
  for (const name of Object.values(names)) checkLinkName(name, podInterface);
  return names;
}

function checkLinkName(name: string, podInterface: string): void {
  if (name.length <= maxNameLength && /^[A-Za-z0-9_][A-Za-z0-9_.@-]*$/.test(name)) return;
  const message = `the Pod interface ${JSON.stringify(podInterface)} needs a link ${JSON.stringify(name)}; have the CNI use a name of at most 11 letters, digits, ".", "-" or "_"`;
  throw new NetworkSetupError("NETWORK_LINK_NAME_INVALID", message, { path: podInterface });
}
