import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, objects, text } from "@virtkit/api/shape";
import { liveRead } from "@virtkit/kube/cache";
import type { WantedPlug } from "../hotplug/hotplug-plan.ts";
import type { AgentContext } from "./agent-context.ts";
import { podResource } from "./launcher-pods.ts";
import type { ContainerName } from "./node-host.ts";

/**
 * The container of an attachment Pod, read live; undefined if it does not run yet, or no longer exists. A Pod
 * counts only if it has that UID and the launcher Pod owns it: otherwise, anybody who can name another Pod in a
 * VMI's status would get that Pod's volumes.
 */
export async function attachmentContainer(
  { attachment }: Pick<WantedPlug, "attachment">,
  launcherPodUid: string,
  { metadata }: VirtualMachineInstance,
  { client, effects, signal }: AgentContext,
): Promise<ContainerName | undefined> {
  const { podName: name, podUid } = attachment;
  const place = { namespace: text(metadata?.namespace), name };
  const found = await effects("read the attachment Pod", () =>
    liveRead(client, podResource, place, { signal }),
  );
  if (found.state !== "present" || found.object.metadata.uid !== podUid) return undefined;
  const pod = found.object;
  const isOwned = (pod.metadata.ownerReferences ?? []).some(
    ({ uid, controller }) => controller && uid === launcherPodUid,
  );
  if (!isOwned || pod.metadata.deletionTimestamp) return undefined;
  const [status] = objects(at(pod, "status", "containerStatuses"));
  const containerID = text(at(status, "containerID"));
  if (containerID === "" || at(status, "state", "running") === undefined) return undefined;
  return { podUid, containerID };
}
