import { expect, test } from "vitest";
import { clusterConfig } from "../config/index.ts";
import type { VirtualMachine, VirtualMachineInstance } from "../schema/index.ts";
import { runStrategies, runStrategyOf } from "./run-strategy.ts";
import { planRunStrategy, type RunStrategyView } from "./run-strategy-plan.ts";

const now = Date.parse("2026-06-01T00:00:00Z");
const uid = "vmi-uid";

function vm(
  spec: Partial<VirtualMachine["spec"]> = {},
  status: VirtualMachine["status"] = {},
): VirtualMachine {
  return {
    metadata: { name: "web", namespace: "ns", uid: "vm-uid", generation: 3 },
    spec: { template: { spec: { domain: { devices: {} } } }, ...spec },
    status,
  };
}

function vmi(phase: string, extra: Partial<VirtualMachineInstance> = {}): VirtualMachineInstance {
  return {
    metadata: { name: "web", namespace: "ns", uid },
    spec: { domain: { devices: {} } },
    ...extra,
    status: { phase, ...extra.status },
  };
}

const config = clusterConfig();
const plan = (strategy: string, view: Partial<RunStrategyView> = {}) =>
  planRunStrategy(strategy, { vm: vm(), config, now, ...view });
const verbs = (result: ReturnType<typeof plan>) =>
  result.writes.map(({ kind, resource }) => `${kind} ${resource}`);

const started = ["create controllerrevisions", "create virtualmachineinstances"];
const stopped = ["delete virtualmachineinstances"];
const stopRequest = { stateChangeRequests: [{ action: "Stop", uid }] };
const startRequest = { stateChangeRequests: [{ action: "Start" }] };

/** The table of run strategies: what each does for each state of the VMI. */
test.each([
  ["Always", undefined, {}, started],
  ["Always", "Running", {}, []],
  ["Always", "Failed", {}, stopped],
  ["Always", "Succeeded", {}, stopped],
  ["Always", "Running", stopRequest, stopped],
  ["RerunOnFailure", undefined, {}, started],
  ["RerunOnFailure", undefined, { runStrategy: "RerunOnFailure" }, []],
  ["RerunOnFailure", undefined, { runStrategy: "RerunOnFailure", ...startRequest }, started],
  ["RerunOnFailure", "Succeeded", {}, stopped],
  ["RerunOnFailure", "Failed", {}, [...stopped, "patch virtualmachines"]],
  ["Manual", undefined, {}, []],
  ["Manual", undefined, startRequest, started],
  ["Manual", "Failed", {}, []],
  ["Manual", "Running", stopRequest, stopped],
  ["Halted", undefined, {}, []],
  ["Halted", undefined, startRequest, ["update virtualmachines"]],
  ["Halted", "Running", {}, stopped],
  ["Once", undefined, {}, started],
  ["Once", "Failed", {}, []],
  ["Once", "Running", stopRequest, []],
  ["WaitAsReceiver", undefined, {}, started],
] as const)("%s with a VMI %s and status %j: %j", (strategy, phase, status, expected) => {
  const view = { vm: vm({ runStrategy: strategy }, status as never), vmi: phase && vmi(phase) };
  expect(verbs(plan(strategy, view))).toEqual(expected);
});

test("every strategy has rows above, and an unknown one is reported and does nothing", () => {
  expect(runStrategies).toHaveLength(6);
  expect(plan("Bogus")).toMatchObject({ writes: [], failure: { reason: "FailedCreate" } });
});

test("a VMI that is being deleted is not deleted again", () => {
  const deleted = { metadata: { name: "web", uid, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  for (const strategy of ["Always", "Halted", "RerunOnFailure", "Manual"]) {
    const view = { vm: vm({}, stopRequest), vmi: vmi("Failed", deleted) };
    expect([strategy, verbs(plan(strategy, view))]).toEqual([strategy, []]);
  }
});

test("deletes a VMI by UID, so that a new one of the same name is safe", () => {
  expect(plan("Halted", { vmi: vmi("Running") }).writes[0]).toMatchObject({ name: "web", uid });
});

test("a stop request for another VMI, or for none, stops nothing", () => {
  const other = { stateChangeRequests: [{ action: "Stop", uid: "other" }] };
  const none = { stateChangeRequests: [{ action: "Stop" }] };
  for (const status of [other, none]) {
    expect(plan("Manual", { vm: vm({}, status), vmi: vmi("Running") }).writes).toEqual([]);
  }
});

test("a VM that fails to start waits, and is looked at again in time", () => {
  const failing = {
    startFailure: { consecutiveFailCount: 2, retryAfterTimestamp: "2026-06-01T00:00:40Z" },
  };
  expect(plan("Always", { vm: vm({}, failing) })).toMatchObject({
    writes: [],
    requeueAfterSeconds: 40,
  });
  expect(verbs(plan("Always", { vm: vm({}, failing), now: now + 41_000 }))).toEqual(started);
  expect(verbs(plan("Once", { vm: vm({}, failing) }))).toEqual(started);
});

test("a guest that moved elsewhere is not started here again", () => {
  const moving = { sourceState: {}, targetState: { syncAddress: "1.2.3.4" } };
  const view = (completed: boolean) => ({
    vm: vm({ runStrategy: "Always" }),
    vmi: vmi("Succeeded", { status: { migrationState: { ...moving, completed } } }),
  });
  expect(plan("Always", view(false))).toMatchObject({ writes: [], requeueAfterSeconds: 2 });
  expect(runStrategyOf(plan("Always", view(true)).vm)).toEqual({ strategy: "Halted" });
});

test("a receiver gets its own strategy back after the migration", () => {
  const receiver: VirtualMachine = {
    ...vm({ runStrategy: "WaitAsReceiver" }),
    metadata: { name: "web", annotations: { "kubevirt.io/restore-run-strategy": "Manual" } },
  };
  const arrived = vmi("Running", { status: { migrationState: { completed: true } } });
  const after = plan("WaitAsReceiver", { vm: receiver, vmi: arrived });
  expect(runStrategyOf(after.vm)).toEqual({ strategy: "Manual" });
  expect(plan("WaitAsReceiver", { vmi: vmi("Running") }).failure?.reason).toBe("FailedCreate");
});

test("running and runStrategy: only one is set, and a start request changes that one", () => {
  expect(runStrategyOf(vm())).toEqual({ strategy: "Halted" });
  expect(runStrategyOf(vm({ running: true }))).toEqual({ strategy: "Always" });
  expect(runStrategyOf(vm({ running: true, runStrategy: "Always" }))).toEqual({
    contradiction: expect.stringContaining("spec.running"),
  });
  const [write] = plan("Halted", { vm: vm({ running: false }, startRequest) }).writes;
  expect(write).toMatchObject({ kind: "update", object: { spec: { running: true } } });
});

test("a start needs every DataVolume, and creates missing ones", () => {
  const templates = [{ metadata: { name: "disk" }, spec: { source: { blank: {} } } }];
  const subject = vm({ dataVolumeTemplates: templates, runStrategy: "Always" });
  const missing = plan("Always", { vm: subject });
  expect(verbs(missing)).toEqual(["create datavolumes"]);
  expect(missing.writes[0]).toMatchObject({
    object: {
      metadata: {
        labels: { "kubevirt.io/created-by": "vm-uid" },
        ownerReferences: [{ uid: "vm-uid", controller: true }],
      },
    },
  });
  const disk = (phase: string) => [
    { metadata: { name: "disk", namespace: "ns" }, status: { phase } },
  ];
  expect(plan("Always", { vm: subject, dataVolumes: disk("ImportInProgress") }).writes).toEqual([]);
  expect(verbs(plan("Always", { vm: subject, dataVolumes: disk("Succeeded") }))).toEqual(started);
  const failed = plan("Always", { vm: subject, dataVolumes: disk("Failed") });
  expect(failed.events).toMatchObject([{ type: "Warning", reason: "FailedDataVolumeImport" }]);
});

test("does not start on a DataVolume of an earlier VM of its name, which will be removed", () => {
  const templates = [{ metadata: { name: "disk" }, spec: { source: { blank: {} } } }];
  const subject = vm({ dataVolumeTemplates: templates, runStrategy: "Always" });
  const ownedBy = (owner: object, metadata: object = {}, parts: object = {}) => {
    const reference = { kind: "VirtualMachine", name: "web", uid: "vm-uid", controller: true };
    const ownerReferences = [{ ...reference, ...owner }];
    const disk = { name: "disk", namespace: "ns", ownerReferences, ...metadata };
    const dataVolumes = [{ metadata: disk, status: { phase: "Succeeded" } }];
    return plan("Always", { vm: subject, dataVolumes, ...parts });
  };
  expect(verbs(ownedBy({}))).toEqual(started);
  const earlier = ownedBy({ uid: "earlier" });
  expect(earlier.writes).toEqual([]);
  expect(earlier.failure?.message).toContain("an earlier VM of this name, with UID earlier");
  const going = ownedBy({ uid: "earlier" }, { deletionTimestamp: "2026-06-01T00:00:00Z" });
  expect([going.writes, going.failure]).toEqual([[], undefined]);
  // What else it may belong to does not matter, nor does it to a guest that runs.
  expect(verbs(ownedBy({ uid: "other", name: "other" }))).toEqual(started);
  expect(verbs(ownedBy({ uid: "import", kind: "Import" }))).toEqual(started);
  expect(ownedBy({ uid: "earlier" }, {}, { vmi: vmi("Running") }).failure).toBeUndefined();
});

test("a clone says what must be allowed first, and warns about a missing source", () => {
  const templates = [{ metadata: { name: "disk" }, spec: { source: { pvc: { name: "gold" } } } }];
  const result = plan("Always", { vm: vm({ dataVolumeTemplates: templates as never }) });
  expect(result.writes[0]).toMatchObject({
    clones: { kind: "PersistentVolumeClaim", namespace: "ns", name: "gold" },
  });
  expect(result.events.map(({ reason }) => reason)).toEqual([
    "SourcePVCNotAvailabe",
    "SuccessfulDataVolumeCreate",
  ]);
});

test("resolves a DataSource to its source; a missing one is a failure", () => {
  const templates = [
    { metadata: { name: "disk" }, spec: { sourceRef: { kind: "DataSource", name: "fedora" } } },
  ];
  const subject = vm({ dataVolumeTemplates: templates as never });
  expect(plan("Always", { vm: subject }).failure?.message).toContain("fedora");
  const dataSources = [
    {
      metadata: { name: "fedora", namespace: "ns" },
      spec: { source: { snapshot: { name: "s" } } },
    },
  ];
  expect(plan("Always", { vm: subject, dataSources }).writes[0]).toMatchObject({
    object: { spec: { source: { snapshot: { name: "s", namespace: "ns" } } } },
  });
});

test("stores a revision once per generation, and deletes older ones", () => {
  const revisions = [
    { name: "revision-start-vm-vm-uid-2", revision: 2 },
    { name: "revision-start-vm-other-1", revision: 1 },
  ];
  expect(verbs(plan("Always", { revisions }))).toEqual(["delete controllerrevisions", ...started]);
  const present = [{ name: "revision-start-vm-vm-uid-3", revision: 3 }];
  expect(verbs(plan("Always", { revisions: present }))).toEqual(["create virtualmachineinstances"]);
});

test("nothing starts while volumes are inconsistent, and RestartRequired ends with a start", () => {
  const recovery = { conditions: [{ type: "ManualRecoveryRequired", status: "True" }] };
  expect(plan("Always", { vm: vm({}, recovery) }).writes).toEqual([]);
  const restart = { conditions: [{ type: "RestartRequired", status: "True" }] };
  expect(plan("Always", { vm: vm({}, restart) }).vm.status?.conditions).toEqual([]);
});

test("reports a default network that is not permitted, after storing the revision", () => {
  const strict = clusterConfig({ network: { permitBridgeInterfaceOnPodNetwork: false } });
  const result = plan("Always", { config: strict });
  expect(verbs(result)).toEqual(["create controllerrevisions"]);
  expect(result.failure).toMatchObject({
    reason: "FailedCreate",
    message: expect.stringContaining('"bridge"'),
  });
});
