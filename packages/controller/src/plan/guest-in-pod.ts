import { decodeGrant, grantAnnotation } from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import { at, entry, text } from "@virtkit/api/shape";
import type { ObjectName } from "@virtkit/kube";

/** A launcher Pod that a guest is to be in. */
export interface GuestInPod {
  readonly vmi: ObjectName;
  /** Of the VMI. */
  readonly uid: string;
  readonly podUID: string;
}

/**
 * Why a guest's Pod must not be deleted, according to the VMI as it was just read. Until a handover is settled, neither
 * of its Pods may be deleted: only the run grant says where the guest is. Undefined if the Pod may be deleted.
 *
 * @param vmi undefined if no VMI has this name
 */
export function whyPodStays(
  vmi: unknown,
  { uid, podUID }: GuestInPod,
  names: Names,
): string | undefined {
  if (text(at(vmi, "metadata", "uid")) !== uid) return "its VMI is gone";
  const annotations = at(vmi, "metadata", "annotations");
  const grant = decodeGrant(entry(annotations, names.own(grantAnnotation)), uid);
  switch (grant.state) {
    case "Invalid":
      return `the run grant is not valid: ${grant.problem}`;
    case "HandingOver":
    case "Released":
    case "Committed":
      return "a handover is in progress";
    case "Claimed":
      return grant.holder.podUID === podUID ? undefined : "the guest is in another Pod";
    case "Granted":
      return grant.podUID === podUID ? undefined : "another Pod may start the guest";
    case "Free":
    case "Ended":
      return undefined;
  }
}
