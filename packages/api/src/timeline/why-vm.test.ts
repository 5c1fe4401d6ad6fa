import { expect, test } from "vitest";
import type { VirtualMachine, VirtualMachineInstance } from "../schema/index.ts";
import { whyVm } from "./why-vm.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

function vmOf(runStrategy: string, status: object = {}, template: object = {}): VirtualMachine {
  const spec = { domain: { devices: {} }, ...template };
  return {
    metadata: { name: "vm", namespace: "ns", uid: "u" },
    spec: { runStrategy, template: { spec } },
    status,
  } as VirtualMachine;
}

const running = {
  metadata: { name: "vm", namespace: "ns" },
  spec: { domain: { devices: {} } },
  status: { phase: "Running", virtualMachineRevisionName: "revision-start-vm-u-1" },
} as VirtualMachineInstance;

test.each([
  ["Halted", {}, "stopped", "set the strategy to Always"],
  ["Manual", {}, "stopped", "manual start"],
  ["RerunOnFailure", { runStrategy: "RerunOnFailure" }, "stopped", "has shut down"],
  ["Always", {}, "waiting", "the controller has seen it"],
  ["WaitAsReceiver", {}, "waiting", "elsewhere"],
])("a VM that is %s with status %j is %s", (strategy, status, state, words) => {
  const story = whyVm({ vm: vmOf(strategy, status), now });
  expect(story.state).toBe(state);
  expect(story.reason).toContain(words);
});

test("a back-off shows the remaining time and the last guest's message", () => {
  const startFailure = {
    consecutiveFailCount: 2,
    retryAfterTimestamp: "2026-01-01T00:00:40Z",
  };
  const event = (lastTimestamp: string, message: string): object => ({
    type: "Warning",
    reason: "SyncFailed",
    message,
    lastTimestamp,
    involvedObject: { kind: "VirtualMachineInstance", name: "vm" },
  });
  const events = [event("2025-12-31T23:00:00Z", "older"), event("2025-12-31T23:59:00Z", "no disk")];
  const { state, reason } = whyVm({ vm: vmOf("Always", { startFailure }), events, now });
  expect(state).toBe("waiting");
  expect(reason).toBe(
    "2 starts in a row failed; the next attempt is in 40 s, at 2026-01-01T00:00:40Z; the last error: SyncFailed: no disk",
  );
});

test("names a disk that is being filled with its progress, and a failed one with the reason", () => {
  const volumes = [{ name: "root", dataVolume: { name: "root" } }];
  const vm = vmOf("Always", {}, { volumes });
  const dataVolume = (status: object): object => ({
    metadata: { name: "root", namespace: "ns" },
    status,
  });
  const filling = dataVolume({ phase: "ImportInProgress", progress: "42%" });
  expect(whyVm({ vm, dataVolumes: [filling], now }).reason).toContain(
    "root (ImportInProgress, 42%)",
  );
  const message = "404 not found";
  const conditions = [{ type: "Running", status: "False", reason: "Error", message }];
  const broken = dataVolume({ phase: "ImportInProgress", conditions });
  expect(whyVm({ vm, dataVolumes: [broken], now })).toMatchObject({
    state: "failed",
    reason: expect.stringContaining("404 not found"),
  });
});

test("names the fields that wait for a restart", () => {
  const message = "a running guest cannot apply it";
  const conditions = [{ type: "RestartRequired", status: "True", message }];
  const vm = vmOf("Always", { conditions }, { terminationGracePeriodSeconds: 5 });
  const revisions = [
    { metadata: { name: "revision-start-vm-u-1" }, data: { spec: vmOf("Always").spec } },
  ];
  expect(whyVm({ vm, vmi: running, revisions, now })).toEqual({
    state: "started",
    reason: "its VMI exists",
    restart: ["spec.template.spec.terminationGracePeriodSeconds"],
    restartReason: message,
  });
});

test("says why a restart is due if no field shows it: the guest did not get what can change live", () => {
  const message = "sockets is 1, fewer\u001b than before";
  const conditions = [{ type: "RestartRequired", status: "True", message }];
  const cpu = (sockets: number): object => ({ domain: { cpu: { sockets }, devices: {} } });
  const spec = vmOf("Always", {}, cpu(2)).spec;
  const revisions = [{ metadata: { name: "revision-start-vm-u-1" }, data: { spec } }];
  const vm = vmOf("Always", { conditions }, cpu(1));
  expect(whyVm({ vm, vmi: running, revisions, now })).toMatchObject({
    restart: [],
    restartReason: "sockets is 1, fewer than before",
  });
  expect(whyVm({ vm: vmOf("Always"), vmi: running, revisions, now })).not.toHaveProperty(
    "restartReason",
  );
});

test("a guest is not reported as failed because a change of it failed", () => {
  const condition = { type: "Failure", status: "True", reason: "HotPlugCPUError", message: "busy" };
  const story = whyVm({ vm: vmOf("Always", { conditions: [condition] }), vmi: running, now });
  expect(story.state).toBe("started");
  expect(story.reason).toContain("HotPlugCPUError: busy");
});

test("reports a failure in the words of its condition, without control characters", () => {
  const condition = {
    type: "Failure",
    status: "True",
    reason: "FailedCreate",
    message: "a\u001b[31mb",
  };
  const { state, reason } = whyVm({ vm: vmOf("Always", { conditions: [condition] }), now });
  expect([state, reason]).toEqual(["failed", "FailedCreate: a [31mb"]);
});

test.each([null, 7, [], { status: 7 }, { spec: null, metadata: [] }])(
  "judges a VM of the shape %j as well as possible",
  (vm) => {
    expect(whyVm({ vm: vm as never, events: 7 as never, now }).reason).not.toBe("");
  },
);
