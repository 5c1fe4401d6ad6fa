import { wallTime } from "@virtkit/api/clock";
import type { ClusterConfig, ConfigStore } from "@virtkit/api/config";

/** Name of the annotation of the KubeVirt object, below the platform's own prefix. */
const annotation = "rotate-certificates";

/**
 * Since when certificates must be: `kubectl annotate kubevirt kubevirt virtkit.io/rotate-certificates=$(date -Is)` has all
 * that are older renewed at once. Undefined where nobody has asked, or the time has not come or cannot be read.
 */
export function rotationAsked(
  { annotations, names }: Pick<ClusterConfig, "annotations" | "names">,
  now: Date = wallTime(),
): Date | undefined {
  const since = new Date(annotations[names.own(annotation)] ?? "");
  return since <= now ? since : undefined;
}

/** Calls `rotate` whenever another rotation is asked for than at the start. */
export function onRotationAsked(store: ConfigStore, rotate: (since: Date) => void): void {
  let known = rotationAsked(store.current)?.getTime();
  store.subscribe((config) => {
    const since = rotationAsked(config);
    if (since === undefined || since.getTime() === known) return;
    known = since.getTime();
    rotate(since);
  });
}
