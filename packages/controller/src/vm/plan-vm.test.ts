import { expect, test } from "vitest";
import {
  config,
  done,
  plan,
  reasonsOf,
  refused,
  startRevision,
  vmiOf,
  vmOf,
  writesOf,
} from "../testing/vm-objects.ts";

const status = "patch virtualmachines/status";

test("a start stores the spec before the VMI refers to it, and one status write reports everything", () => {
  const started = plan({ vm: vmOf("Always") });
  expect(writesOf(started)).toEqual([
    "create controllerrevisions",
    "create virtualmachineinstances",
    status,
  ]);
  expect(reasonsOf(started)).toEqual(["SuccessfulCreate"]);
  expect(started.status?.printableStatus).toBe("Starting");
  expect(started.error).toBeUndefined();
});

test("a VMI that cannot be created is reported in the status, in an event and as the error", () => {
  const failed = plan({ vm: vmOf("Always") }, [done, refused("AlreadyExists")]);
  expect(reasonsOf(failed)).toEqual(["FailedCreate"]);
  expect(failed.error).toMatchObject({ kind: "sync", reason: "FailedCreate" });
  expect(failed.status?.conditions).toContainEqual(
    expect.objectContaining({ type: "Failure", status: "True", reason: "FailedCreate" }),
  );
});

test("does not repeat the requests of an earlier pass", () => {
  const waiting = plan({ vm: vmOf("Always"), expected: { vmi: "creation" } });
  expect(writesOf(waiting)).toEqual([status]);
  expect(waiting.status?.printableStatus).toBe("Starting");
});

test("writes the status before it releases the ended VMI", () => {
  const ended = plan({ vm: vmOf("Manual"), vmi: vmiOf("Failed") });
  expect(writesOf(ended)).toEqual([status, "patch virtualmachineinstances"]);
  const stale = plan({ vm: vmOf("Manual"), vmi: vmiOf("Failed") }, [refused("Conflict")]);
  expect(writesOf(stale)).toEqual([status]);
  expect(stale.error).toMatchObject({ kind: "api", reason: "Conflict" });
});

test("a deleted VM outlives its VMI, and its last status is written before its finalizer is removed", () => {
  const vm = vmOf("Always");
  const deleted = {
    ...vm,
    metadata: { ...vm.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
  };
  expect(writesOf(plan({ vm: deleted, vmi: vmiOf("Running") }))).toEqual([
    "delete virtualmachineinstances",
    status,
  ]);
  expect(writesOf(plan({ vm: deleted }))).toEqual([status, "patch virtualmachines"]);
});

test("deletes a VMI by UID, so that a successor of the same name is safe", () => {
  const { writes } = plan({ vm: vmOf("Halted"), vmi: vmiOf("Running") });
  expect(writes[0]).toMatchObject({ kind: "delete", uid: "vmi-uid" });
});

test("leaves a VMI of another owner alone", () => {
  const ownerReferences = [
    { apiVersion: "v1", kind: "Other", name: "o", uid: "o", controller: true },
  ];
  const vmi = vmiOf("Running", { metadata: { name: "vm", namespace: "ns", ownerReferences } });
  expect(writesOf(plan({ vm: vmOf("Halted"), vmi }))).toEqual([status]);
});

test("writes nothing about a VM that is as it should be", () => {
  const running = vmiOf("Running", { status: { conditions: [{ type: "Ready", status: "True" }] } });
  const vm = vmOf("Always");
  const revisions = [startRevision(vm)];
  const first = plan({ vm, vmi: running, revisions });
  expect(writesOf(first)).toEqual([status]);
  const settled = { ...vm, status: first.status ?? {} };
  expect(writesOf(plan({ vm: settled, vmi: running, revisions }))).toEqual([]);
});

test("the first write of the VM in a pass fails if somebody else has changed it", () => {
  const { writes } = plan({ vm: vmOf("Halted") });
  expect(writes[0]).toMatchObject({
    operations: expect.arrayContaining([
      { op: "test", path: "/metadata/resourceVersion", value: "7" },
    ]),
  });
});

test("waits before the next start after failed starts", () => {
  const startFailure = {
    consecutiveFailCount: 2,
    lastFailedVMIUID: "gone",
    retryAfterTimestamp: "2026-01-01T00:00:40Z",
  };
  const waiting = plan({ vm: vmOf("Always", { status: { startFailure } }) });
  expect(waiting.requeueAfterSeconds).toBe(40);
  expect(waiting.status?.printableStatus).toBe("CrashLoopBackOff");
});

test("a request to start a halted VM is not a failure", () => {
  const vm = vmOf("Halted", { status: { stateChangeRequests: [{ action: "Start" }] } });
  const flipped = plan({ vm });
  expect(flipped.error).toBeUndefined();
  expect(flipped.writes[0]).toMatchObject({
    operations: expect.arrayContaining([
      { op: "replace", path: "/spec/runStrategy", value: "Always" },
    ]),
  });
});

test("a VM has our finalizer before it can have a VMI", () => {
  const vm = vmOf("Always");
  const bare = { ...vm, metadata: { ...vm.metadata, finalizers: ["example.com/other"] } };
  const started = plan({ vm: bare });
  expect(started.writes[0]).toMatchObject({
    operations: expect.arrayContaining([
      {
        op: "replace",
        path: "/metadata/finalizers",
        value: ["example.com/other", config.names.finalizers.vm],
      },
    ]),
  });
  expect(writesOf(plan({ vm: bare }, [refused("Conflict")]))).toEqual(["patch virtualmachines"]);
});
