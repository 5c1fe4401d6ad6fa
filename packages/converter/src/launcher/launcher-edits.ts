import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { ConverterContext } from "../context.ts";
import type { Domain } from "../model/domain.ts";
import type { Environment } from "../resolve/environment.ts";
import { attachTaps } from "./attach-taps.ts";
import { chooseCacheModes } from "./cache-modes.ts";
import { chooseIoModes } from "./io-modes.ts";

/** What the edits need to know about the Pod. */
export type PodFacts = Pick<
  Environment,
  "podLinks" | "noDirectIO" | "directIOErrors" | "preallocatedPaths"
>;

/**
 * Everything that the launcher changes in a domain before it defines it, in order: TAP devices, cache modes, I/O
 * modes. A pure function that returns a new domain.
 */
export function launcherEdits(
  domain: Domain,
  vmi: VirtualMachineInstance,
  context: ConverterContext,
  { podLinks = {}, noDirectIO = [], directIOErrors = [], preallocatedPaths = [] }: PodFacts,
): Domain {
  const attachments = context.domainAttachmentByInterfaceName ?? {};
  const cached = [...noDirectIO, ...directIOErrors];
  const attached = attachTaps(domain, vmi, { attachments, links: podLinks });
  const chosen = chooseCacheModes(
    attached,
    (path) => !cached.some((prefix) => path.startsWith(prefix)),
  );
  return chooseIoModes(chosen, (path) => preallocatedPaths.includes(path));
}
