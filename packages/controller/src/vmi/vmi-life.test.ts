import {
  decodeGrant,
  encodeGrant,
  freeGrant,
  type Grant,
  grantAnnotation,
  type Holder,
} from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance, VirtualMachineInstancePhase } from "@virtkit/api/schema";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";
import { expect, test } from "vitest";
import type { PodObject } from "./cluster-objects.ts";
import { sampleConfig, sampleNow, sampleView, sampleVmi } from "./testing/sample-view.ts";
import { SmallCluster } from "./testing/small-cluster.ts";
import { vmiReconciler } from "./vmi-reconciler.ts";
import type { VmiView } from "./vmi-view.ts";

const vmis = "virtualmachineinstances";
const grantKey = names().own(grantAnnotation);
const profile = virtkitLauncherProfile({ image: "launcher:1" });
/** A VMI in a cluster whose kubelet and node agent do what they are told. */
function world() {
  const cluster = new SmallCluster();
  const events: string[] = [];
  const reads = { live: 0 };
  let bootID = "b1";
  const node = () => ({
    metadata: { name: "n1" },
    status: {
      nodeInfo: { machineID: "m1", bootID },
      conditions: [{ type: "Ready", status: "True" }],
    },
  });
  const view = (isLive: boolean): VmiView => {
    const pods = cluster.all<PodObject>("pods");
    const memory = { isRemembered: () => true, remembered: [] };
    const vmi = cluster.present<VirtualMachineInstance>(vmis, "vm");
    return sampleView({ vmi, pods, grant: { ...memory, isLive, pods, nodes: [node()] } });
  };
  const reconciler = vmiReconciler({
    target: cluster,
    record: (_, { reason }) => events.push(reason),
    sources: {
      cached: () => frozen ?? view(false),
      live: async () => {
        reads.live++;
        return view(true);
      },
    },
    config: () => ({ ...sampleConfig, profile }),
    wall: () => new Date(sampleNow),
  });
  const reconcile = () => reconciler({ namespace: "ns", name: "vm" });
  let frozen: VmiView | undefined;
  /** From now on the caches do not change. */
  const freeze = (changes: Partial<VmiView> = {}): void => {
    frozen = { ...view(false), ...changes };
  };
  /** Runs until there is nothing more to do. */
  const settle = async (): Promise<void> => {
    for (let before = -1; before !== cluster.calls.length; ) {
      before = cluster.calls.length;
      await reconcile();
    }
  };
  const vmi = sampleVmi({ phase: "Pending" });
  const annotations = { ...vmi.metadata?.annotations, [grantKey]: encodeGrant(freeGrant) };
  cluster.put(vmis, { ...vmi, metadata: { ...vmi.metadata, annotations } });
  const reboot = (boot: string): void => {
    bootID = boot;
  };
  return { cluster, events, reads, settle, reconcile, reboot, freeze };
}

type World = ReturnType<typeof world>;

function kubelet({ cluster }: World, containerID: string, state: object, phase: string): void {
  const [pod] = cluster.all<PodObject>("pods");
  cluster.change<PodObject>("pods", String(pod?.metadata?.name), (each) => ({
    ...each,
    spec: { ...each.spec, nodeName: "n1" },
    status: {
      ...each.status,
      phase,
      conditions: [
        ...(each.status?.conditions ?? []).filter(({ type }) => type !== "Ready"),
        { type: "Ready", status: phase === "Running" ? "True" : "False" },
      ],
      containerStatuses: [{ name: "compute", ready: true, containerID, state }],
    },
  }));
}

function grantOf({ cluster }: World): Grant {
  const { metadata } = cluster.find<VirtualMachineInstance>(vmis, "vm");
  return decodeGrant(metadata?.annotations?.[grantKey], "vmi-uid") as Grant;
}

/** The node agent writes phase and grant in one write. */
function agent({ cluster }: World, phase: VirtualMachineInstancePhase, grant: Grant): void {
  cluster.change<VirtualMachineInstance>(vmis, "vm", (vmi) => ({
    ...vmi,
    metadata: {
      ...vmi.metadata,
      annotations: { ...vmi.metadata?.annotations, [grantKey]: encodeGrant(grant) },
    },
    status: { ...vmi.status, phase },
  }));
}

async function start(given: World): Promise<Holder> {
  await given.settle();
  kubelet(given, "containerd://1", { running: {} }, "Running");
  await given.settle();
  const granted = grantOf(given);
  const podUID = granted.state === "Granted" ? granted.podUID : "nobody";
  const holder = {
    podUID,
    containerID: "containerd://1",
    node: "n1",
    machineID: "m1",
    bootID: "b1",
    nonce: "x",
  };
  const { vmiUID, epoch, seq } = granted;
  agent(given, "Running", { state: "Claimed", vmiUID, epoch, seq: seq + 1, holder });
  await given.settle();
  return holder;
}

function remove({ cluster }: World): void {
  cluster.change<VirtualMachineInstance>(vmis, "vm", (vmi) => ({
    ...vmi,
    metadata: { ...vmi.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
  }));
}

test("the writes from a new VMI until it is gone, one by one", async () => {
  const given = world();
  const { cluster, events } = given;
  await start(given);
  expect(cluster.calls.splice(0)).toEqual([
    "create pods",
    // It is ready: its readiness gate opens, and it names its node.
    "patch pods",
    // The VMI is handed over with the grant.
    "patch virtualmachineinstances",
    // The guest runs: Ready.
    "patch virtualmachineinstances",
  ]);
  remove(given);
  await given.settle();
  const { vmiUID, epoch, seq } = grantOf(given);
  const terminated = { exitCode: 0, reason: "Completed", containerID: "containerd://1" };
  kubelet(given, "containerd://1", { terminated }, "Succeeded");
  agent(given, "Succeeded", { state: "Ended", vmiUID, epoch, seq: seq + 1 });
  await given.settle();
  expect(cluster.calls).toEqual([
    "delete pods",
    // Both finalizers, the Pod's first.
    "patch pods",
    "patch virtualmachineinstances",
  ]);
  expect(events).toEqual(["SuccessfulCreate", "SuccessfulDelete"]);
  expect([cluster.all("pods"), cluster.all(vmis)]).toEqual([[], []]);
});

test("an unchanged VMI costs nothing, however often it is looked at", async () => {
  const given = world();
  await start(given);
  const { cluster, reads } = given;
  const before = [cluster.calls.length, reads.live];
  for (let look = 0; look < 10; look++) await given.reconcile();
  expect([cluster.calls.length, reads.live]).toEqual(before);
});

test("a Pod that is force-deleted while its guest runs keeps the VMI until the end is proven", async () => {
  const given = world();
  const holder = await start(given);
  remove(given);
  await given.settle();
  const [pod] = given.cluster.all<PodObject>("pods");
  given.cluster.drop("pods", String(pod?.metadata?.name));
  await given.settle();
  const kept = given.cluster.find<VirtualMachineInstance>(vmis, "vm");
  expect(kept.status?.phase).toBe("Failed");
  expect(kept.status?.conditions?.map(({ reason }) => reason)).toContain("RunGrantRefused");
  expect(grantOf(given)).toMatchObject({ state: "Claimed", holder });
  // The node reboots: whatever ran there has ended.
  given.reboot("b2");
  await given.settle();
  expect(given.cluster.all(vmis)).toEqual([]);
});

test("two controllers that see no Pod yet create one", async () => {
  const given = world();
  given.freeze();
  const results = await Promise.allSettled([given.reconcile(), given.reconcile()]);
  expect(given.cluster.all("pods")).toHaveLength(1);
  expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
});

test("a guest whose Pod is missing only from the caches has not failed", async () => {
  const given = world();
  await start(given);
  given.freeze({ pods: [] });
  await given.reconcile();
  expect(given.cluster.find<VirtualMachineInstance>(vmis, "vm").status?.phase).toBe("Running");
});
