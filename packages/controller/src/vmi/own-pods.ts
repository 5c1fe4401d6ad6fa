import type { ObjectMeta } from "@virtkit/api/schema";
import { objects, text } from "@virtkit/api/shape";
import type { PodObject } from "./cluster-objects.ts";
import type { VmiView } from "./vmi-view.ts";

interface Owner {
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly controller?: boolean;
}

/** The controller that an object names. */
export function controllerOf(metadata: ObjectMeta | undefined): Owner | undefined {
  return objects<Owner>(metadata?.ownerReferences).find(({ controller }) => controller === true);
}

/**
 * Whether an object names this one as its controller. Compared by UID, because names are reused.
 */
export function isControlledBy(
  { metadata }: { readonly metadata?: ObjectMeta | undefined },
  owner: { readonly metadata?: ObjectMeta | undefined },
): boolean {
  const uid = text(owner.metadata?.uid);
  return uid !== "" && controllerOf(metadata)?.uid === uid;
}

/** The Pods that a VMI controls: launchers, including targets of migrations, and temporary ones. */
export function podsOf({ vmi, pods }: Pick<VmiView, "vmi" | "pods">): readonly PodObject[] {
  return vmi ? pods.filter((pod) => isControlledBy(pod, vmi)) : [];
}

/** The Pods that attach volumes to a launcher's guest. */
export function attachmentPodsOf(launcher: PodObject, { pods }: VmiView): readonly PodObject[] {
  return pods.filter((pod) => isControlledBy(pod, launcher));
}

/**
 * The Pod in which the guest runs or will run: the newest on the VMI's node, or the newest of all
 * while the VMI has no node. The target of a migration is on another node.
 */
export function currentPod(view: Pick<VmiView, "vmi" | "pods">): PodObject | undefined {
  const node = text(view.vmi?.status?.nodeName);
  return podsOf(view)
    .filter(({ spec }) => node === "" || text(spec?.nodeName) === node)
    .reduce<PodObject | undefined>(
      (newest, pod) => (newest && created(newest) >= created(pod) ? newest : pod),
      undefined,
    );
}

/** When an object was created, in milliseconds since the epoch; 0 if unknown. */
export function created({ metadata }: { readonly metadata?: ObjectMeta | undefined }): number {
  const time = Date.parse(text(metadata?.creationTimestamp));
  return Number.isNaN(time) ? 0 : time;
}
