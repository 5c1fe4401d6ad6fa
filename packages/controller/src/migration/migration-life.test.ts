import {
  decodeGrant,
  encodeGrant,
  type Grant,
  grantAnnotation,
  type Holder,
  targetHolderAnnotation,
  writeTargetHolder,
} from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";
import { lookupIn, virtkitLauncherProfile } from "@virtkit/launcher-pod";
import { expect, test } from "vitest";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { sampleConfig, sampleNow, samplePod, sampleVmi } from "../vmi/testing/sample-view.ts";
import { SmallCluster } from "../vmi/testing/small-cluster.ts";
import { migrationReconciler } from "./migration-reconciler.ts";
import type { MigrationView } from "./migration-view.ts";

const plurals = {
  vmis: "virtualmachineinstances",
  migrations: "virtualmachineinstancemigrations",
} as const;
const { own, annotations, finalizers, labels, group } = names();
const grantKey = own(grantAnnotation);
const profile = virtkitLauncherProfile({ image: "launcher:1" });

const holder: Holder = {
  podUID: "pod-uid",
  containerID: "containerd://1",
  node: "n1",
  machineID: "m1",
  bootID: "b1",
  nonce: "x",
};
const claimed: Grant = { state: "Claimed", vmiUID: "vmi-uid", epoch: 1, seq: 3, holder };

/** A guest that runs on n1, and a new migration. */
function world(
  options: {
    readonly isRemembered?: boolean;
    readonly podAge?: number;
    /** Whether the caches do not show the target Pod. */
    readonly isTargetUnseen?: () => boolean;
    /** What others do after the view was read, before a write of the plan arrives. */
    readonly meanwhile?: (cluster: SmallCluster) => void;
  } = {},
) {
  const { podAge = 1_000 } = options;
  const cluster = new SmallCluster();
  const events: string[] = [];
  const node = (name: string, machineID: string) => ({
    metadata: { name, labels: {} },
    status: {
      nodeInfo: { machineID, bootID: "b1" },
      conditions: [{ type: "Ready", status: "True" }],
    },
  });
  const nodes = [node("n1", "m1"), node("n2", "m2")];
  const view = (isLive: boolean): MigrationView => {
    const isUnseen = !isLive && options.isTargetUnseen?.() === true;
    const pods = cluster
      .all<PodObject>("pods")
      .filter(({ metadata }) => !isUnseen || metadata?.uid === "pod-uid");
    const migrations = cluster.all<VirtualMachineInstanceMigration>(plurals.migrations);
    const memory = { isRemembered: () => options.isRemembered ?? true, remembered: [] };
    return {
      migration: migrations.find(({ metadata }) => metadata?.name === "mig"),
      vmi: cluster.present<VirtualMachineInstance>(plurals.vmis, "vm"),
      pods,
      claims: [],
      migrations,
      vmiOf: () => undefined,
      hasTargetPod: () => false,
      nodes: () => nodes,
      namespace: { metadata: { name: "ns" } },
      policies: [],
      storageClasses: [],
      storageProfiles: [],
      lookup: lookupIn({}),
      grant: { ...memory, isLive, pods, nodes },
    };
  };
  const reconciler = migrationReconciler({
    target: {
      write: async (write) => {
        options.meanwhile?.(cluster);
        const answer = await cluster.write(write);
        if (write.kind !== "create") return answer;
        const creationTimestamp = new Date(sampleNow - podAge).toISOString();
        cluster.change<PodObject>("pods", String(write.object.metadata.name), (pod) => ({
          ...pod,
          metadata: { ...pod.metadata, creationTimestamp },
        }));
        return answer;
      },
    },
    record: (_, { reason }) => events.push(reason),
    sources: { cached: () => view(false), live: async () => view(true) },
    config: () => ({ ...sampleConfig, profile }),
    wall: () => new Date(sampleNow),
  });
  const reconcile = () => reconciler({ namespace: "ns", name: "mig" });
  const settle = async (): Promise<void> => {
    for (let before = -1; before !== cluster.calls.length; ) {
      before = cluster.calls.length;
      await reconcile();
    }
  };
  const vmi = sampleVmi({
    phase: "Running",
    nodeName: "n1",
    runtimeUser: 107,
    selinuxContext: "none",
  });
  cluster.put(plurals.vmis, {
    ...vmi,
    metadata: {
      ...vmi.metadata,
      labels: { [labels.nodeName]: "n1" },
      annotations: {
        ...vmi.metadata?.annotations,
        [annotations.nonRoot]: "true",
        [grantKey]: encodeGrant(claimed),
      },
    },
  });
  cluster.put("pods", samplePod({ labels: { [labels.app]: "virt-launcher" } }));
  cluster.put(plurals.migrations, {
    apiVersion: `${group}/v1`,
    kind: "VirtualMachineInstanceMigration",
    metadata: {
      namespace: "ns",
      name: "mig",
      uid: "mig-uid",
      finalizers: [finalizers.migration],
      labels: { [labels.vmiName]: "vm" },
      annotations: {
        [annotations.latestObservedApiVersion]: "v1",
        [annotations.storageObservedApiVersion]: "v1",
      },
    },
    spec: { vmiName: "vm" },
  });
  return { cluster, events, settle, reconcile };
}

type World = ReturnType<typeof world>;

const phase = ({ cluster }: World) =>
  cluster.find<VirtualMachineInstanceMigration>(plurals.migrations, "mig").status?.phase;
const vmiOf = ({ cluster }: World) => cluster.find<VirtualMachineInstance>(plurals.vmis, "vm");
const grantOf = (given: World) =>
  decodeGrant(vmiOf(given).metadata?.annotations?.[grantKey], "vmi-uid");
const targetOf = ({ cluster }: World) =>
  cluster.all<PodObject>("pods").find(({ metadata }) => metadata?.uid !== "pod-uid");

function startTarget(given: World, podPhase = "Running"): void {
  given.cluster.change<PodObject>("pods", String(targetOf(given)?.metadata?.name), (pod) => ({
    ...pod,
    spec: { ...pod.spec, nodeName: "n2" },
    status: {
      phase: podPhase,
      containerStatuses: [
        { name: "compute", ready: true, containerID: "containerd://2", state: { running: {} } },
      ],
    },
  }));
}

/** The node agents write their parts of the state. */
function report(
  given: World,
  state: Partial<VirtualMachineInstanceMigrationState>,
  extra: Readonly<Record<string, string>> = {},
): void {
  given.cluster.change<VirtualMachineInstance>(plurals.vmis, "vm", (vmi) => ({
    ...vmi,
    metadata: { ...vmi.metadata, annotations: { ...vmi.metadata?.annotations, ...extra } },
    status: { ...vmi.status, migrationState: { ...vmi.status?.migrationState, ...state } },
  }));
}

function targetHolder(given: World): Holder {
  const podUID = String(targetOf(given)?.metadata?.uid);
  return { ...holder, podUID, containerID: "containerd://2", node: "n2", machineID: "m2" };
}

/** Up to the moment when the target listens and names its incarnation. */
async function prepare(given: World): Promise<void> {
  await given.settle();
  startTarget(given);
  await given.settle();
  const target = { migrationUID: "mig-uid", holder: targetHolder(given) };
  const key = own(targetHolderAnnotation);
  report(given, { targetNodeAddress: "10.0.0.2" }, { [key]: writeTargetHolder(target) });
}

test("what a migration costs its own controller: 7 writes and 2 events", async () => {
  const given = world();
  await prepare(given);
  expect(phase(given)).toBe("PreparingTarget");
  await given.settle();
  expect(grantOf(given)).toMatchObject({ state: "HandingOver", target: targetHolder(given) });
  report(given, { startTimestamp: "2026-01-01T00:00:01Z" });
  await given.settle();
  expect(phase(given)).toBe("Running");
  const ended = { endTimestamp: "2026-01-01T00:00:05Z", completed: true };
  report(given, { ...ended, targetNodeDomainReadyTimestamp: "2026-01-01T00:00:04Z" });
  await given.settle();
  expect(phase(given)).toBe("Succeeded");
  expect(given.cluster.calls).toEqual([
    "create pods",
    // The node agents are told about it.
    `patch ${plurals.vmis}`,
    // PreparingTarget, with the Pod that the guest leaves.
    `patch ${plurals.migrations}`,
    // The run grant: HandingOver.
    `patch ${plurals.vmis}`,
    // Running.
    `patch ${plurals.migrations}`,
    // Succeeded, with its result.
    `patch ${plurals.migrations}`,
    // The finalizer is removed.
    `patch ${plurals.migrations}`,
  ]);
  expect(given.events).toEqual(["SuccessfulCreate", "SuccessfulMigration"]);
  const { status, metadata } = given.cluster.find<VirtualMachineInstanceMigration>(
    plurals.migrations,
    "mig",
  );
  expect(metadata?.finalizers).toEqual([]);
  expect(status?.migrationState).toMatchObject({ completed: true, sourcePod: "launcher" });
  expect(status?.phaseTransitionTimestamps?.map((each) => each.phase)).toEqual([
    ...["Pending", "Scheduling", "Scheduled", "PreparingTarget", "TargetReady", "Running"],
    "Succeeded",
  ]);
});

test("a target Pod that takes longer than three seconds is shown, with one more write", async () => {
  const given = world({ podAge: 4_000 });
  await given.settle();
  expect(given.cluster.calls).toEqual(["create pods", `patch ${plurals.migrations}`]);
  expect(phase(given)).toBe("Scheduling");
  const soon = world();
  expect(await soon.reconcile()).toEqual({});
  expect(await soon.reconcile()).toEqual({ requeueAfter: 2_000 });
  expect(phase(soon)).toBeUndefined();
});

test("two controllers that create the target collide, because its name follows from the migration", async () => {
  const [a, b] = [world(), world()];
  await a.settle();
  await b.settle();
  expect(targetOf(a)?.metadata?.name).toMatch(/^virt-launcher-vm-[0-9a-f]{10}$/);
  expect(targetOf(a)?.metadata?.name).toBe(targetOf(b)?.metadata?.name);
});

test("the guest is not handed over to a Pod that the VM does not remember", async () => {
  const given = world({ isRemembered: false });
  await prepare(given);
  await expect(given.reconcile()).rejects.toThrow(/does not remember the Pod/);
  expect(grantOf(given).state).toBe("Claimed");
  expect(phase(given)).toBe("PreparingTarget");
});

test.each([
  ["another migration's", { migrationUID: "other", podUID: undefined }],
  ["another Pod's", { migrationUID: "mig-uid", podUID: "other" }],
])("the guest is not handed over to %s incarnation", async (_, { migrationUID, podUID }) => {
  const given = world();
  await prepare(given);
  const { podUID: own_, ...rest } = targetHolder(given);
  const target = { migrationUID, holder: { ...rest, podUID: podUID ?? own_ } };
  report(given, {}, { [own(targetHolderAnnotation)]: writeTargetHolder(target) });
  await given.settle();
  expect(grantOf(given).state).toBe("Claimed");
});

test("cancelling a migration before the hand-off deletes its target Pod", async () => {
  const given = world();
  await given.settle();
  startTarget(given, "Pending");
  given.cluster.change<VirtualMachineInstanceMigration>(plurals.migrations, "mig", (each) => ({
    ...each,
    metadata: { ...each.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
  }));
  await given.reconcile();
  const target = targetOf(given);
  expect(target === undefined || target.metadata?.deletionTimestamp !== undefined).toBe(true);
  expect(given.cluster.present(plurals.migrations, "mig")).toBeUndefined();
  expect(grantOf(given)).toEqual(claimed);
});

test("cancelling a migration after the hand-off asks the source and deletes no Pod", async () => {
  const given = world();
  await prepare(given);
  await given.settle();
  report(given, { startTimestamp: "2026-01-01T00:00:01Z" });
  await given.settle();
  given.cluster.change<VirtualMachineInstanceMigration>(plurals.migrations, "mig", (each) => ({
    ...each,
    metadata: { ...each.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
  }));
  await given.settle();
  expect(vmiOf(given).status?.migrationState?.abortRequested).toBe(true);
  expect(given.cluster.calls).not.toContain("delete pods");
  expect(given.events).toContain("SuccessfulAbortMigration");
});

test("a target Pod that ends before the guest moves is reported to the node agents, who keep the grant", async () => {
  const given = world();
  await prepare(given);
  await given.settle();
  startTarget(given, "Failed");
  await given.settle();
  expect(phase(given)).toBe("Failed");
  expect(vmiOf(given).status?.migrationState).toMatchObject({ failed: true, completed: true });
  expect(grantOf(given).state).toBe("HandingOver");
});

test.each([
  ["is being deleted", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }],
  ["has ended", { status: { phase: "Failed" as const } }],
  ["shows that the migration has failed", { status: { migrationState: { failed: true } } }],
])(
  "a guest whose VMI %s meanwhile is not handed over: nobody would look after the target",
  async (_, change) => {
    let isNow = false;
    const given = world({
      meanwhile: (cluster) => {
        if (!isNow) return;
        cluster.change<VirtualMachineInstance>(plurals.vmis, "vm", (vmi) => ({
          ...vmi,
          metadata: { ...vmi.metadata, ...("metadata" in change ? change.metadata : {}) },
          status: { ...vmi.status, ...("status" in change ? change.status : {}) },
        }));
      },
    });
    await prepare(given);
    isNow = true;
    await given.reconcile().catch(() => {});
    expect(grantOf(given)).toEqual(claimed);
  },
);

/** The grant is handed over by a migration that is over, and whose VMIM is gone. */
function handOverBefore(given: World): void {
  const target = { ...holder, podUID: "earlier", containerID: "containerd://9", node: "n2" };
  const handover = { target, migrationUID: "earlier-uid" };
  const grant: Grant = {
    vmiUID: "vmi-uid",
    epoch: 1,
    seq: 4,
    state: "HandingOver",
    holder,
    ...handover,
  };
  report(
    given,
    { migrationUid: "earlier-uid", completed: true, failed: true },
    { [grantKey]: encodeGrant(grant) },
  );
}

test("node agents learn of a migration only once the handover of an earlier one has ended", async () => {
  const given = world();
  await given.settle();
  startTarget(given);
  handOverBefore(given);
  await expect(given.settle()).rejects.toThrow(/still being handed over by migration earlier-uid/);
  expect(vmiOf(given).status?.migrationState?.migrationUid).toBe("earlier-uid");
  report(given, {}, { [grantKey]: encodeGrant(claimed) });
  await given.settle();
  expect(vmiOf(given).status?.migrationState?.migrationUid).toBe("mig-uid");
});

test("the target's label is set even if an earlier migration to the same node had it, and that node's agent removes it meanwhile", async () => {
  let isNow = false;
  const given = world({
    meanwhile: (cluster) => {
      if (!isNow) return;
      isNow = false;
      cluster.change<VirtualMachineInstance>(plurals.vmis, "vm", ({ metadata, ...vmi }) => ({
        ...vmi,
        metadata: { ...metadata, labels: { [labels.nodeName]: "n1" } },
      }));
    },
  });
  given.cluster.change<VirtualMachineInstance>(plurals.vmis, "vm", (vmi) => ({
    ...vmi,
    metadata: {
      ...vmi.metadata,
      labels: { ...vmi.metadata?.labels, [labels.migrationTargetNodeName]: "n2" },
    },
  }));
  await given.settle();
  startTarget(given);
  isNow = true;
  await given.reconcile().catch(() => {});
  await given.settle();
  expect(vmiOf(given).metadata?.labels?.[labels.migrationTargetNodeName]).toBe("n2");
});

test("a migration that is given up and has lost its target ends, even if its phase does not say that node agents were informed", async () => {
  const given = world();
  await given.settle();
  startTarget(given);
  await given.settle();
  given.cluster.change<VirtualMachineInstanceMigration>(plurals.migrations, "mig", (each) => ({
    ...each,
    metadata: { ...each.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
    status: { phase: "Pending" },
  }));
  // As if it were gone: it is nobody's any more.
  given.cluster.change<PodObject>("pods", String(targetOf(given)?.metadata?.name), (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, labels: {}, annotations: {}, ownerReferences: [] },
  }));
  await given.settle();
  expect(given.cluster.present(plurals.migrations, "mig")).toBeUndefined();
});

test("a migration that fails because another one moves the VMI deletes its target Pod, which that one or the next would wait for", async () => {
  const given = world();
  await given.settle();
  startTarget(given);
  given.cluster.put(plurals.migrations, {
    ...given.cluster.find<VirtualMachineInstanceMigration>(plurals.migrations, "mig"),
    metadata: { namespace: "ns", name: "first", uid: "first-uid" },
    status: { phase: "Running" },
  });
  report(given, { migrationUid: "first-uid" });
  await given.settle();
  expect(phase(given)).toBe("Failed");
  expect(targetOf(given)?.metadata?.deletionTimestamp).toBeDefined();
});

test("the target Pod of a failed migration is kept if the guest has arrived in it after all", async () => {
  const given = world();
  await given.settle();
  startTarget(given);
  given.cluster.change<VirtualMachineInstanceMigration>(plurals.migrations, "mig", (each) => ({
    ...each,
    status: { phase: "Failed" },
  }));
  const arrived: Grant = { ...claimed, epoch: 2, seq: 6, holder: targetHolder(given) };
  report(given, { migrationUid: "next-uid" }, { [grantKey]: encodeGrant(arrived) });
  await given.settle();
  expect(targetOf(given)?.metadata?.deletionTimestamp).toBeUndefined();
});

test("a migration whose VMI is gone is deleted, and does not wait for an end that nobody brings about", async () => {
  const given = world();
  await given.settle();
  given.cluster.drop(plurals.vmis, "vm");
  await given.settle();
  expect(given.cluster.present(plurals.migrations, "mig")).toBeUndefined();
});

test("a migration has not lost a target Pod that only the caches do not show yet", async () => {
  let isUnseen = false;
  const given = world({ isTargetUnseen: () => isUnseen });
  await given.settle();
  startTarget(given);
  given.cluster.change<VirtualMachineInstanceMigration>(plurals.migrations, "mig", (each) => ({
    ...each,
    status: { phase: "Scheduling" },
  }));
  isUnseen = true;
  await given.settle();
  expect(phase(given)).toBe("PreparingTarget");
});
