import { at, objects, text } from "@virtkit/api/shape";
import { defineResource, type KubeClient, type KubeObject } from "@virtkit/kube";

const pods = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

/** How many Pods are named; the others usually wait for the same. */
const most = 3;

/**
 * What keeps the Pods of a component from being ready, in the words of the kubelet and the scheduler: an image that cannot be
 * pulled, a program that ends, a node that has no room. Empty if they do not say.
 */
export async function podComplaints(
  client: KubeClient,
  place: { readonly namespace: string; readonly labelSelector: string },
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly string[]> {
  const { items } = await client.list(pods, { ...place, signal });
  return items
    .flatMap((pod) => {
      const [complaint] = complaintsOf(pod);
      return complaint ? [`Pod ${pod.metadata.name}: ${complaint.slice(0, 300)}`] : [];
    })
    .slice(0, most);
}

function complaintsOf(pod: KubeObject): readonly string[] {
  const containers = ["initContainerStatuses", "containerStatuses"].flatMap((list) =>
    objects(at(pod, "status", list)),
  );
  const unscheduled = objects(at(pod, "status", "conditions")).filter(
    ({ type, status }) => type === "PodScheduled" && status === "False",
  );
  return [
    ...unscheduled.map(({ reason, message }) => said(reason, message)),
    ...containers.flatMap(({ name, state, lastState }) => {
      const { reason, message } = (at(state, "waiting") ?? {}) as Readonly<Record<string, unknown>>;
      const ended = at(lastState, "terminated", "exitCode");
      const code = ended === undefined ? "" : `, last exit code ${String(ended)}`;
      // Every container starts like that.
      if (!reason || reason === "ContainerCreating" || reason === "PodInitializing") return [];
      return [`container ${text(name)}: ${said(reason, message)}${code}`];
    }),
  ];
}

function said(reason: unknown, message: unknown): string {
  return [text(reason), text(message)].filter((each) => each !== "").join(": ");
}
