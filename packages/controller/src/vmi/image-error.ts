import { text } from "@virtkit/api/shape";
import type { PodObject } from "./cluster-objects.ts";
import type { SyncFailure } from "./sync-failure.ts";

/** Why an image of the Pod cannot be pulled, if a container waits for one. */
export function imageError({ status }: PodObject): SyncFailure | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = status ?? {};
  const waiting = [...initContainerStatuses, ...containerStatuses].find(({ state }) =>
    ["ErrImagePull", "ImagePullBackOff"].includes(text(state?.waiting?.reason)),
  )?.state?.waiting;
  return waiting && { reason: text(waiting.reason), message: text(waiting.message) };
}
