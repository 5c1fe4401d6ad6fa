import { decide, decodeGrant, encodeGrant, freeGrant, grantAnnotation } from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import { defineResource, isAlreadyExists, type KubeClient, type Resource } from "@virtkit/kube";
import { pods, type SimulatedPod } from "../../cluster/core-resources.ts";
import type { ActorMain } from "../../faults/play-scenario.ts";
import type { VmiObject } from "../simulated-node-agent.ts";

const names = namesOf();

export const vmis: Resource<VmiObject> = defineResource<VmiObject>({
  group: names.group,
  version: "v1",
  plural: "virtualmachineinstances",
  kind: "VirtualMachineInstance",
});

/** A VMI as it is after admission. */
export const toyVmi = (name: string): VmiObject =>
  ({
    metadata: {
      ...{ namespace: "default", name },
      annotations: { [names.own(grantAnnotation)]: encodeGrant(freeGrant) },
    },
    spec: { domain: { devices: {} }, terminationGracePeriodSeconds: 10 },
  }) as unknown as VmiObject;

/** Creates a Pod for each VMI, and grants it once it is ready. Just enough for tests of the node's side. */
export const toyVmiController: ActorMain = async ({ client, clock, signal }) => {
  for (;;) {
    signal.throwIfAborted();
    for (const vmi of (await client.list(vmis)).items) await look(client, vmi).catch(() => {});
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 500));
  }
};

async function look(client: KubeClient, vmi: VmiObject): Promise<void> {
  const { namespace = "", name = "", uid = "", resourceVersion } = vmi.metadata;
  const phase = vmi.status?.phase;
  if (vmi.metadata.deletionTimestamp || phase === "Scheduled" || phase === "Running") return;
  if (phase === "Succeeded" || phase === "Failed") return;
  const at = { namespace, name: `launcher-${name}` };
  const labels = { [names.labels.app]: "virt-launcher", [names.labels.createdBy]: uid };
  const annotations = { [names.annotations.domain]: name };
  const spec = { restartPolicy: "Never", containers: [{ name: "compute", image: "launcher" }] };
  await client.create(pods, { metadata: { ...at, labels, annotations }, spec }).catch((error) => {
    if (!isAlreadyExists(error)) throw error;
  });
  const pod: SimulatedPod = await client.get(pods, at);
  if (!pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"))
    return;
  const grant = decodeGrant(vmi.metadata.annotations?.[names.own(grantAnnotation)], uid);
  const earlier = { remembered: [], listed: [], live: true };
  const podUID = pod.metadata.uid ?? "";
  const asked = { vmiUID: uid, podUID, proofs: [], remembered: true, earlier };
  const verdict = decide(grant, { kind: "grant", ...asked });
  if ("refused" in verdict) return;
  const body = {
    metadata: {
      ...{ uid, resourceVersion },
      annotations: { [names.own(grantAnnotation)]: encodeGrant(verdict.grant) },
    },
    status: { phase: "Scheduled", nodeName: pod.spec?.nodeName },
  };
  await client.patch(vmis, { namespace, name }, { type: "merge", body });
}
