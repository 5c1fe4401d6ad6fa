import { expect, test } from "vitest";
import type { VirtualMachine, VirtualMachineInstance } from "../schema/index.ts";
import { printableStatus, printableStatuses, type VmView } from "./printable-status.ts";

const now = Date.parse("2026-06-01T00:00:00Z");
const deleted = { metadata: { namespace: "ns", deletionTimestamp: "2026-01-01T00:00:00Z" } };
const vm = (
  strategy = "Always",
  status: VirtualMachine["status"] = {},
  volumes: object[] = [],
): VirtualMachine => ({
  metadata: { name: "vm", namespace: "ns" },
  spec: {
    runStrategy: strategy,
    template: { spec: { domain: { devices: {} }, volumes: volumes as never } },
  },
  status,
});
const vmi = (phase: string, ...conditions: object[]): VirtualMachineInstance => ({
  metadata: { name: "vm", namespace: "ns" },
  spec: { domain: { devices: {} } },
  status: { phase, conditions: conditions as never },
});
const unsynced = (reason: string) => ({ type: "Synchronized", status: "False", reason });
const dv = (phase: string, ...conditions: object[]) => [
  { metadata: { name: "d", namespace: "ns" }, status: { phase, conditions: conditions as never } },
];
const onDv = [{ name: "d", dataVolume: { name: "d" } }];
const migration = (startTimestamp?: string, endTimestamp?: string): VirtualMachineInstance => ({
  ...vmi("Running"),
  status: { phase: "Running", migrationState: { startTimestamp, endTimestamp } as never },
});
const claim = (phase: string) => [{ metadata: { name: "d", namespace: "ns" }, status: { phase } }];
const failing = { startFailure: { consecutiveFailCount: 1 } };

const rows: readonly (readonly [string, Partial<VmView>])[] = [
  ["Terminating", { vm: { ...vm(), ...deleted }, vmi: vmi("Running") }],
  ["Stopping", { vmi: { ...vmi("Running"), ...deleted } }],
  ["Stopping", { vmi: vmi("Running"), expected: "deletion" }],
  ["Migrating", { vmi: migration("2026-05-01T00:00:00Z") }],
  ["Running", { vmi: migration("2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z") }],
  ["Running", { vmi: migration("2027-05-01T00:00:00Z") }],
  ["Paused", { vmi: vmi("Running", { type: "Paused", status: "True" }) }],
  ["Running", { vmi: vmi("Running") }],
  ["ErrorPvcNotFound", { vmi: vmi("Pending", unsynced("FailedPvcNotFound")) }],
  ["DataVolumeError", { vm: vm("Always", {}, onDv), dataVolumes: dv("Failed") }],
  [
    "DataVolumeError",
    {
      vm: vm("Always", {}, onDv),
      dataVolumes: dv("ImportInProgress", { type: "Running", status: "False", reason: "Error" }),
    },
  ],
  [
    "ErrorUnschedulable",
    { vmi: vmi("Scheduling", { type: "PodScheduled", status: "False", reason: "Unschedulable" }) },
  ],
  ["Provisioning", { vm: vm("Halted", {}, onDv), dataVolumes: dv("ImportInProgress") }],
  ["Stopped", { vm: vm("Halted", {}, onDv), dataVolumes: dv("WaitForFirstConsumer") }],
  ["WaitingForVolumeBinding", { vm: vm("Always", {}, onDv), claims: claim("Pending") }],
  ["Stopped", { vm: vm("Halted", {}, onDv), claims: claim("Pending") }],
  ["ErrImagePull", { vmi: vmi("Scheduling", unsynced("ErrImagePull")) }],
  ["ImagePullBackOff", { vmi: vmi("Scheduling", unsynced("ImagePullBackOff")) }],
  ["Starting", { vmi: vmi("Scheduled") }],
  ["Starting", { expected: "creation" }],
  ["CrashLoopBackOff", { vm: vm("Always", failing) }],
  ["CrashLoopBackOff", { vm: vm("Once", failing), vmi: vmi("Failed") }],
  ["Stopped", { vm: vm("Manual", failing) }],
  ["Stopped", { vmi: vmi("Succeeded") }],
  ["WaitingForReceiver", { vm: vm("WaitAsReceiver"), vmi: vmi("WaitingForSync") }],
  ["Unknown", { vmi: vmi("Unknown") }],
];

test.each(rows)("%s: %#", (expected, view) => {
  expect(printableStatus({ vm: vm(), now, ...view })).toBe(expected);
});

test("every status has a row above", () => {
  const seen = new Set(rows.map(([status]) => status));
  expect(printableStatuses.filter((status) => !seen.has(status))).toEqual([]);
});
