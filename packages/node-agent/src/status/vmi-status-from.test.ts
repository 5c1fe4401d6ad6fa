import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import type { DomainStatus } from "@virtkit/domain-manager";
import { expect, test } from "vitest";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { type VmiStatusOptions, vmiStatusFrom } from "./vmi-status-from.ts";

const now = "2026-01-01T10:00:00Z";
const running: DomainStatus = {
  name: "default_vm",
  state: "Running",
  reason: "Unknown",
  agent: "disconnected",
  interfaces: [],
  disks: [],
};
const absent: DomainStatus = { ...running, state: "Absent", reason: "NonExistent" };

function withStatus(status: VirtualMachineInstanceStatus): VirtualMachineInstance {
  return { ...sampleVmi(), status };
}

function after(
  domain: Partial<DomainStatus>,
  status: VirtualMachineInstanceStatus,
  options: Partial<VmiStatusOptions> = {},
): VirtualMachineInstanceStatus {
  const all = { config: clusterConfig(), now, ...options };
  return vmiStatusFrom({ ...running, ...domain }, withStatus(status), all);
}

test("a running guest makes its VMI Running, with the time; seen again, nothing changes", () => {
  const first = after({}, { phase: "Scheduled" });
  expect(first).toEqual({
    phase: "Running",
    phaseTransitionTimestamps: [{ phase: "Running", phaseTransitionTimestamp: now }],
  });
  expect(after({}, first, { now: "2027-01-01T00:00:00Z" })).toEqual(first);
});

test.each([
  ["Succeeded", { state: "Shutoff", reason: "Shutdown" }],
  ["Failed", { state: "Shutoff", reason: "Crashed" }],
  ["Failed", { state: "Crashed", reason: "Panicked" }],
  ["Running", { state: "Shutoff", reason: "Migrated" }],
  ["Running", { state: "NoState", reason: "Unknown" }],
  ["Failed", absent],
] as const)("a VMI that ran is %s after %j", (phase, domain) => {
  expect(after(domain, { phase: "Running" }).phase).toBe(phase);
});

test("the end of a VMI is final, whatever its domain does", () => {
  const ended = { phase: "Failed", reason: "x", conditions: [] } as const;
  expect(after({ agent: "connected" }, { ...ended, conditions: [] })).toEqual(ended);
});

test("a VMI that has not run waits for its guest, unless its launcher or its start is lost for good", () => {
  const scheduled = { phase: "Scheduled" } as const;
  const failure = { reason: "NetworkFailed", message: "no such link" };
  expect(after(absent, scheduled).phase).toBe("Scheduled");
  expect(after(absent, scheduled, { launcherIsLost: true }).phase).toBe("Failed");
  expect(after(absent, scheduled, { failure }).phase).toBe("Scheduled");
  expect(after(absent, scheduled, { failure: { ...failure, isFinal: true } }).phase).toBe("Failed");
  // A guest that runs is not ended by what its node fails to change.
  expect(after({}, scheduled, { failure: { ...failure, isFinal: true } }).phase).toBe("Running");
});

test("conditions of others stay; a failed attempt is reported, and later withdrawn", () => {
  const ready = { type: "Ready", status: "True" } as const;
  const failure = { reason: "DiskFailed", message: "no image" };
  const failed = after({}, { phase: "Running", conditions: [ready] }, { failure });
  expect(failed.conditions).toEqual([
    ready,
    {
      ...{ type: "Synchronized", status: "False", reason: "DiskFailed", message: "no image" },
      ...{ lastProbeTime: now, lastTransitionTime: now },
    },
  ]);
  expect(after({}, failed).conditions).toEqual([ready]);
});

test("an agent that has not reported its abilities is not called unsupported", () => {
  const types = (domain: Partial<DomainStatus>): unknown =>
    after({ agent: "connected", ...domain }, { phase: "Running" }).conditions?.map(
      ({ type }) => type,
    );
  expect(types({})).toEqual(["AgentConnected"]);
  expect(types({ agentCommands: ["guest-ping"] })).toEqual([
    "AgentConnected",
    "AgentVersionNotSupported",
  ]);
});

test("a made-up version does not fill the status, and a wrong pattern does not throw", () => {
  const config = clusterConfig({ supportedGuestAgentVersions: ["("] });
  const agentVersion = "9".repeat(60_000);
  const { conditions } = after(
    { agent: "connected", agentVersion },
    { phase: "Running" },
    { config },
  );
  expect(conditions?.[1]).toMatchObject({ type: "AgentVersionNotSupported", status: "True" });
  expect(JSON.stringify(conditions).length).toBeLessThan(1_000);
});

test("a volume shows the device that the guest sees; a missing one shows none", () => {
  const volumeStatus = [
    { name: "b", target: "vdb" },
    { name: "a", target: "" },
  ];
  const disks = [{ volume: "a", target: "vda" }];
  expect(after({ disks }, { phase: "Running", volumeStatus }).volumeStatus).toEqual([
    { name: "a", target: "vda" },
    { name: "b", target: "" },
  ]);
});

test("does not guess whether a hotplugged volume is mounted", () => {
  const volumeStatus = [{ name: "h", target: "", phase: "Ready", hotplugVolume: {} }];
  const phases = (mountedVolumes?: readonly string[]): unknown =>
    after({}, { phase: "Running", volumeStatus }, mountedVolumes ? { mountedVolumes } : {})
      .volumeStatus?.[0]?.phase;
  expect(phases()).toBe("Ready");
  expect(phases(["h"])).toBe("Ready");
  expect(phases([])).toBe("UnMountedFromPod");
});

test("a new size of memory replaces the old one, and one in an unknown unit removes it", () => {
  const memory = { guestAtBoot: "1Gi", guestCurrent: "1Gi" };
  const hardware = { emulated: false, acpi: true, memory: { value: 2_097_152, unit: "KiB" } };
  const now = (unit: string): unknown => {
    const sized = { ...hardware, memory: { ...hardware.memory, unit } };
    return after({ hardware: sized }, { phase: "Running", memory }).memory;
  };
  expect(now("KiB")).toEqual({ guestAtBoot: "1Gi", guestCurrent: "2Gi" });
  expect(now("kib")).toEqual({ guestAtBoot: "1Gi" });
});
