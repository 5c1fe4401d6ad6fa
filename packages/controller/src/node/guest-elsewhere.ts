import { decodeGrant, grantAnnotation } from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { entry, text } from "@virtkit/api/shape";

/**
 * Whether the run grant of a VMI names another node than the one that its label names: the guest is being handed
 * over, or it has moved. Then the Pods of the labelled node do not say whether the guest has ended.
 */
export function isGuestElsewhere(
  { metadata }: Pick<VirtualMachineInstance, "metadata">,
  node: string,
  names: Names,
): boolean {
  const value = entry(metadata?.annotations, names.own(grantAnnotation));
  const grant = decodeGrant(value, text(metadata?.uid));
  return "target" in grant || ("holder" in grant && grant.holder.node !== node);
}
