import { expect, test } from "vitest";
import { clusterConfig } from "../config/index.ts";
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStatus,
} from "../schema/index.ts";
import { trackingOfNewVmi, trackingStatusOf } from "./changed-block-tracking.ts";
import { nextMemoryDumpRequest } from "./memory-dump-request.ts";
import { planVmStatus, type VmStatusView } from "./vm-status.ts";
import { withVolumeMigration } from "./volume-migration-state.ts";

const now = Date.parse("2026-06-01T00:00:00Z");
const config = clusterConfig();
const vm = (status: VirtualMachineStatus = {}, spec: object = {}): VirtualMachine => ({
  metadata: { name: "vm", namespace: "ns", uid: "u", generation: 4 },
  spec: { runStrategy: "Always", template: { spec: { domain: { devices: {} } } }, ...spec },
  status,
});
const vmi = (
  phase: string,
  conditions: object[] = [],
  extra: Partial<VirtualMachineInstance> = {},
): VirtualMachineInstance => ({
  metadata: { name: "vm", uid: "v", annotations: { "kubevirt.io/vm-generation": "3" } },
  spec: { domain: { devices: {} } },
  ...extra,
  status: { phase, conditions: conditions as never, ...extra.status },
});
const plan = (view: Partial<VmStatusView>) =>
  planVmStatus({ vm: vm(), config, now, random: () => 0, ...view });

test("a VM without a VMI is stopped and not ready", () => {
  const { status, writes } = plan({});
  expect(status).toMatchObject({
    printableStatus: "Stopped",
    conditions: [{ type: "Ready", status: "False", reason: "VMINotExists" }],
  });
  expect(status).not.toHaveProperty("runStrategy");
  expect(writes).toMatchObject([{ kind: "update", subresource: "status" }]);
});

test("a VM with a VMI shows generations, readiness and its effective strategy", () => {
  const { status } = plan({ vmi: vmi("Running", [{ type: "Ready", status: "True" }]) });
  expect(status).toMatchObject({
    created: true,
    ready: true,
    printableStatus: "Running",
    observedGeneration: 3,
    desiredGeneration: 4,
    runStrategy: "Always",
  });
});

test("a pass that changes nothing writes nothing", () => {
  const running = vmi("Running", [{ type: "Ready", status: "True" }]);
  const { status } = plan({ vmi: running });
  expect(plan({ vm: vm(status), vmi: running, now: now + 60_000 }).writes).toEqual([]);
});

test("mirrors the VMI's conditions while it exists; the VM's own stay", () => {
  const before = {
    conditions: [
      { type: "AgentConnected", status: "True" },
      { type: "RestartRequired", status: "True" },
    ],
  };
  const { status } = plan({
    vm: vm(before),
    vmi: vmi("Running", [{ type: "Paused", status: "True" }]),
  });
  expect(status.conditions?.map(({ type }) => type)).toEqual([
    "RestartRequired",
    "Ready",
    "Paused",
  ]);
});

test("a failure is shown while it lasts", () => {
  const failure = { reason: "FailedCreate", message: "why" };
  const { status } = plan({ failure });
  expect(status.conditions).toContainEqual(
    expect.objectContaining({
      type: "Failure",
      status: "True",
      reason: "FailedCreate",
      message: "why",
    }),
  );
  expect(plan({ vm: vm(status) }).status.conditions?.map(({ type }) => type)).toEqual(["Ready"]);
});

test("drops finished requests, one at a time", () => {
  const requests = { stateChangeRequests: [{ action: "Stop", uid: "v" }, { action: "Start" }] };
  expect(plan({ vm: vm(requests), vmi: vmi("Running") }).status.stateChangeRequests).toHaveLength(
    2,
  );
  expect(plan({ vm: vm(requests) }).status.stateChangeRequests).toEqual([{ action: "Start" }]);
  const start = { stateChangeRequests: [{ action: "Start" }] };
  expect(plan({ vm: vm(start), vmi: vmi("Failed") }).status.stateChangeRequests).toHaveLength(1);
  expect(plan({ vm: vm(start), vmi: vmi("Pending") }).status).not.toHaveProperty(
    "stateChangeRequests",
  );
});

test("drops volume requests that the template shows", () => {
  const add = { addVolumeOptions: { name: "a", disk: {} as never, volumeSource: {} } };
  const remove = { removeVolumeOptions: { name: "b" } };
  const { status } = plan({ vm: vm({ volumeRequests: [add, remove] }) });
  expect(status.volumeRequests).toEqual([add]);
});

test("releases an ended VMI once", () => {
  const finalizers = ["x", "kubevirt.io/virtualMachineControllerFinalize"];
  const ended = vmi("Failed", [], { metadata: { name: "vm", uid: "v", finalizers } });
  expect(plan({ vmi: ended }).writes[1]).toMatchObject({
    resource: "virtualmachineinstances",
    patch: [
      { op: "test", value: finalizers },
      { op: "replace", value: ["x"] },
    ],
  });
  expect(plan({ vmi: { ...ended, status: { phase: "Running" } } }).writes).toHaveLength(1);
});

const dump = (phase: string, extra: object = {}) =>
  vm({ memoryDumpRequest: { claimName: "c", phase, ...extra } });
const volumes = (name: string) => ({
  template: { spec: { domain: { devices: {} }, volumes: [{ name }] } },
});
const dumping = (phase: string) =>
  vmi("Running", [], {
    status: {
      volumeStatus: [
        { name: "c", target: "", phase, memoryDumpVolume: { claimName: "c", endTimestamp: "t" } },
      ],
    },
  });

test.each([
  [
    "Associating",
    { ...dump("Associating"), spec: { ...vm().spec, ...volumes("c") } },
    undefined,
    "InProgress",
  ],
  ["Associating", dump("Associating"), undefined, "Associating"],
  ["InProgress", dump("InProgress"), dumping("MemoryDumpCompleted"), "Unmounting"],
  ["InProgress", dump("InProgress"), dumping("MemoryDumpFailed"), "Failed"],
  ["InProgress", dump("InProgress"), dumping("MemoryDumpInProgress"), "InProgress"],
  ["Unmounting", dump("Unmounting"), dumping("Ready"), "Unmounting"],
  ["Unmounting", dump("Unmounting"), undefined, "Completed"],
  ["Completed", dump("Completed"), undefined, "Completed"],
  ["Dissociating", dump("Dissociating"), dumping("Ready"), "Dissociating"],
  ["Dissociating", dump("Dissociating"), undefined, undefined],
  ["Failed, to be removed", dump("Failed", { remove: true }), undefined, "Dissociating"],
])("memory dump %s: %#", (_, subject, instance, expected) => {
  expect(nextMemoryDumpRequest(subject, instance)?.phase).toBe(expected);
});

const tracked = clusterConfig({
  changedBlockTrackingLabelSelectors: {
    virtualMachineLabelSelector: { matchLabels: { cbt: "yes" } },
  },
  developerConfiguration: { featureGates: ["IncrementalBackup"] },
});
const gateOff = clusterConfig({
  changedBlockTrackingLabelSelectors: {
    virtualMachineLabelSelector: { matchLabels: { cbt: "yes" } },
  },
});
const tracking = (state: string, selected = true): VirtualMachine => ({
  ...vm(state ? { changedBlockTracking: { state } } : {}),
  metadata: { name: "vm", labels: selected ? { cbt: "yes" } : {} },
});
const tracks = (state?: string) =>
  vmi("Running", [], { status: state ? { changedBlockTracking: { state } } : {} });

test.each([
  ["newly selected", tracking(""), tracks(), tracked, "PendingRestart"],
  ["newly selected, stopped", tracking(""), undefined, tracked, "Initializing"],
  ["restarted", tracking("PendingRestart"), tracks("Initializing"), tracked, "Initializing"],
  ["initialised", tracking("Initializing"), tracks("Enabled"), tracked, "Enabled"],
  ["no longer selected", tracking("Enabled", false), tracks("Enabled"), tracked, "PendingRestart"],
  ["no longer selected, stopped", tracking("Enabled", false), undefined, tracked, "Disabled"],
  ["gate off", tracking("Enabled"), tracks("Enabled"), gateOff, "PendingRestart"],
  ["gate off, stopped", tracking(""), undefined, gateOff, "IncrementalBackupFeatureGateDisabled"],
  ["nothing to do", tracking("", false), undefined, gateOff, undefined],
  ["an unknown state", tracking("Odd"), tracks(), tracked, ""],
])("changed-block tracking, %s", (_, subject, instance, cluster, expected) => {
  expect(trackingStatusOf(subject, instance, { config: cluster })?.state).toBe(expected);
});

test("a new VMI tracks blocks if its VM is selected", () => {
  expect(trackingOfNewVmi(tracking(""), { config: tracked })).toBe("Initializing");
  expect(trackingOfNewVmi(tracking("Enabled", false), { config: tracked })).toBe("Disabled");
  expect(trackingOfNewVmi(tracking(""), { config: gateOff })).toBeUndefined();
});

test.each([
  [{ key: "cbt", operator: "In", values: ["yes"] }, true],
  [{ key: "cbt", operator: "NotIn", values: ["yes"] }, false],
  [{ key: "cbt", operator: "Exists" }, true],
  [{ key: "cbt", operator: "DoesNotExist" }, false],
  [{ key: "cbt", operator: "Bogus" }, false],
])("selector %j selects: %s", (expression, selected) => {
  const cluster = clusterConfig({
    changedBlockTrackingLabelSelectors: {
      virtualMachineLabelSelector: { matchExpressions: [expression] },
    },
    developerConfiguration: { featureGates: ["IncrementalBackup"] },
  });
  expect(trackingOfNewVmi(tracking(""), { config: cluster }) === "Initializing").toBe(selected);
});

const migrated = (claimName: string, conditions: object[] = []): VirtualMachine => ({
  ...vm({
    conditions: conditions as never,
    volumeUpdateState: {
      volumeMigrationState: {
        migratedVolumes: [{ volumeName: "v", sourcePVCInfo: { claimName: "old" } }],
      },
    } as never,
  }),
  spec: {
    updateVolumesStrategy: "Migration",
    template: {
      spec: {
        domain: { devices: {} },
        volumes: [{ name: "v", persistentVolumeClaim: { claimName } }],
      },
    },
  },
});
const changing = [{ type: "VolumesChange", status: "True" }];

test("forgets a volume migration once the old volumes are back", () => {
  const status = withVolumeMigration(migrated("old", changing), vmi("Running"));
  expect(status.volumeUpdateState).toEqual({});
  expect(status.conditions).toEqual([]);
});

test("a VMI that disappears halfway leaves volumes that a person must sort out", () => {
  const status = withVolumeMigration(migrated("new", changing), undefined);
  expect(status.conditions?.[1]).toMatchObject({ type: "ManualRecoveryRequired", status: "True" });
  expect(withVolumeMigration(migrated("new"), undefined).conditions).toEqual([]);
});

test("forgets a volume migration that was cancelled", () => {
  const cancelled = { type: "VolumesChange", status: "False", reason: "VolumesChangeCancellation" };
  const status = withVolumeMigration(migrated("new", changing), vmi("Running", [cancelled]));
  expect(status.volumeUpdateState).toEqual({});
});
