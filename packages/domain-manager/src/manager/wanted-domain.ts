import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { type ConverterContext, convert, type Domain } from "@virtkit/converter";
import {
  attachTaps,
  chooseCacheModes,
  chooseIoModes,
  type PodFacts,
} from "@virtkit/converter/launcher";
import { diskFacts } from "./disk-facts.ts";
import type { GuestSession } from "./guest-session.ts";
import { localPaths } from "./launcher-files.ts";

/** The input of the wanted domain. */
export interface WantedGuest {
  readonly vmi: VirtualMachineInstance;
  readonly context: ConverterContext;
  readonly pod?: PodFacts | undefined;
}

/**
 * The domain of a VMI in this launcher: converted, plugged into the Pod, with its storage tested.
 */
export async function wantedDomain(
  { names }: Pick<GuestSession, "names">,
  { vmi, context, pod = {} }: WantedGuest,
): Promise<Domain> {
  const attachments = context.domainAttachmentByInterfaceName ?? {};
  const links = pod.podLinks ?? {};
  const attached = attachTaps(convert(vmi, context), vmi, { attachments, links });
  const localPath = localPaths(names, context);
  const { takesDirectIo, isPreallocated } = await diskFacts(attached, localPath, pod);
  return chooseIoModes(chooseCacheModes(attached, takesDirectIo), isPreallocated);
}
