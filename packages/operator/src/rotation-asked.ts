import { wallTime } from "@virtkit/api/clock";
import type { ClusterConfig, ConfigStore } from "@virtkit/api/config";

/** The annotation's name on the KubeVirt object, below the platform's own prefix. */
const annotation = "rotate-certificates";

/**
 * The minimum age of certificates:
 * `kubectl annotate kubevirt kubevirt virtkit.io/rotate-certificates=$(date -Is)` renews all older ones at
 * once. Undefined if nobody has asked for it, or the time is in the future or unreadable.
 */
export function rotationAsked(
  { annotations, names }: Pick<ClusterConfig, "annotations" | "names">,
  now: Date = wallTime(),
): Date | undefined {
  const since = new Date(annotations[names.own(annotation)] ?? "");
  return since <= now ? since : undefined;
}

/** Calls `rotate` whenever a rotation other than the initial one is requested. */
export function onRotationAsked(store: ConfigStore, rotate: (since: Date) => void): void {
  let known = rotationAsked(store.current)?.getTime();
  store.subscribe((config) => {
    const since = rotationAsked(config);
    if (since === undefined || since.getTime() === known) return;
    known = since.getTime();
    rotate(since);
  });
}
