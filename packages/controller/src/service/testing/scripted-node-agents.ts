import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import {
  decide,
  decodeGrant,
  encodeGrant,
  type GrantRequest,
  grantAnnotation,
  type ReadGrant,
} from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import { proofsFromPod } from "@virtkit/api/proofs";
import { type Random, realRandom } from "@virtkit/api/random";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, entry, text } from "@virtkit/api/shape";
import { withPhase } from "@virtkit/api/status";
import { isConflict, isNotFound, type KubeClient, type KubeObject } from "@virtkit/kube";
import { Cache } from "@virtkit/kube/cache";
import { controllerOf, createController, watch } from "@virtkit/kube/controller";
import { nodeResource, podResource, vmiResource } from "../../plan/resources.ts";
import type { PodObject } from "../../vmi/cluster-objects.ts";

/** Options of {@link runScriptedNodeAgents}. */
export interface ScriptedNodeAgentsOptions {
  readonly client: KubeClient;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly wall?: () => Date;
  readonly signal: AbortSignal;
  /** Whether the agent of a node works. By default all do. */
  isAlive?(node: string): boolean;
  /** Called for each guest that starts or ends, with the UID of its Pod. */
  onGuest?(what: "starts" | "ends", vmi: KubeObject, podUid: string): void;
  /** Milliseconds between heartbeats; none by default. */
  readonly heartbeat?: number;
}

type Vmi = VirtualMachineInstance & KubeObject;
type Pod = PodObject & KubeObject;

const bootMilliseconds = 300;
const names = namesOf();
const grantKey = names.own(grantAnnotation);

/** The agents of all nodes as one script: they claim, start, and report the end, each with one write. */
export async function runScriptedNodeAgents(options: ScriptedNodeAgentsOptions): Promise<void> {
  const { client, signal, isAlive = () => true, clock = realClock, random = realRandom } = options;
  const { wall = () => new Date() } = options;
  const vmiKind = vmiResource(names);
  const vmis = new Cache<Vmi>(vmiKind as never);
  const pods = new Cache<Pod>(podResource as never);
  const nodes = new Cache<KubeObject>(nodeResource);

  /** The Pod that the grant names, if the agent of its node works. */
  const podOf = (vmi: Vmi, grant: ReadGrant): Pod | undefined => {
    const listed = pods.list({ namespace: text(vmi.metadata.namespace) });
    const all = listed.state === "complete" ? listed.objects : [];
    const pod = all.find(({ metadata }) => metadata.uid === namedPod(grant));
    return pod && isAlive(text(pod.spec?.nodeName)) ? pod : undefined;
  };

  const step = (vmi: Vmi): Vmi | undefined => {
    const grant = decodeGrant(entry(vmi.metadata.annotations, grantKey), text(vmi.metadata.uid));
    const pod = podOf(vmi, grant);
    const request = pod && requestFor(vmi, pod);
    const verdict = request && decide(grant, request);
    if (!pod || !verdict || "refused" in verdict) return undefined;
    const isStart = request.kind === "claim";
    options.onGuest?.(isStart ? "starts" : "ends", vmi, text(pod.metadata.uid));
    const annotations = { ...vmi.metadata.annotations, [grantKey]: encodeGrant(verdict.grant) };
    const phase = isStart ? "Running" : endPhase(pod);
    const time = wall()
      .toISOString()
      .replace(/\.\d+Z$/, "Z");
    const status = withPhase({ ...vmi.status, phase }, phase, time);
    return { ...vmi, metadata: { ...vmi.metadata, annotations }, status };
  };

  const requestFor = (vmi: Vmi, pod: Pod): GrantRequest | undefined => {
    const proofs = proofsFromPod(pod);
    const phase = vmi.status?.phase;
    if (proofs.length > 0 && (phase === "Scheduled" || phase === "Running")) {
      return { kind: "end", vmiUID: text(vmi.metadata.uid), proofs };
    }
    const compute = pod.status?.containerStatuses?.find(({ name }) => name === "compute");
    if (phase !== "Scheduled" || !compute?.state?.running) return undefined;
    const name = text(pod.spec?.nodeName);
    const found = nodes.get({ name });
    const info = found.state === "present" ? at(found.object, "status", "nodeInfo") : {};
    return {
      kind: "claim",
      holder: {
        podUID: text(pod.metadata.uid),
        containerID: text(compute.containerID),
        node: name,
        machineID: text(at(info, "machineID")),
        bootID: text(at(info, "bootID")),
        nonce: "n",
      },
    };
  };

  const agents = createController({
    name: "agents",
    client,
    clock,
    random,
    concurrency: 10,
    watches: [
      watch(vmis),
      watch(pods, {
        keys: controllerOf(vmiKind),
        follow: { labelSelector: `${names.labels.app}=virt-launcher` },
      }),
      watch(nodes, { keys: () => [] }),
    ],
    async reconcile(name) {
      const found = vmis.get(name);
      if (found.state !== "present") return;
      // A guest takes a moment to boot.
      if (found.object.status?.phase === "Scheduled") await sleep(clock, bootMilliseconds, signal);
      const next = step(found.object);
      if (!next) return;
      await client.update(vmiKind, next as KubeObject).catch((error: unknown) => {
        // The next look sees what was written meanwhile.
        if (!isConflict(error) && !isNotFound(error)) throw error;
      });
    },
  });
  await Promise.all([
    agents.run({ signal }),
    options.heartbeat ? beat(options, nodes, options.heartbeat, clock) : undefined,
  ]);
}

function namedPod(grant: ReadGrant): string | undefined {
  if ("podUID" in grant) return grant.podUID;
  return "holder" in grant ? grant.holder.podUID : undefined;
}

function endPhase(pod: Pod): "Succeeded" | "Failed" {
  const compute = pod.status?.containerStatuses?.find(({ name }) => name === "compute");
  return compute?.state?.terminated?.exitCode === 0 ? "Succeeded" : "Failed";
}

/** Heartbeats as node agents send them. */
async function beat(
  { client, signal, isAlive = () => true, wall = () => new Date() }: ScriptedNodeAgentsOptions,
  nodes: Cache<KubeObject>,
  every: number,
  clock: Clock,
): Promise<void> {
  while (!signal.aborted) {
    const all = nodes.list();
    const alive = all.state === "complete" ? all.objects : [];
    for (const { metadata } of alive.filter((node) => isAlive(text(node.metadata.name)))) {
      const annotations = { [names.annotations.heartbeat]: wall().toISOString() };
      const labels = {
        [names.nodeLabels.schedulable]: "true",
        [`${names.nodeLabels.machineType}q35`]: "true",
      };
      const body = { metadata: { annotations, labels } };
      const name = { name: text(metadata.name) };
      await client.patch(nodeResource, name, { type: "merge", body });
    }
    await sleep(clock, alive.length === 0 ? 100 : every, signal);
  }
}
