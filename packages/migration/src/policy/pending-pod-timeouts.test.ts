import { expect, test } from "vitest";
import {
  isPendingUnschedulable,
  type PendingPod,
  pendingPodTimeouts,
} from "./pending-pod-timeouts.ts";

test.each([
  [undefined, 300, 900],
  ["60", 60, 60],
  ["-1", -1, -1],
  ["60s", 300, 900],
  ["", 300, 900],
  ["+5", 5, 5],
  ["9223372036854775807", 2 ** 63, 2 ** 63],
  ["9223372036854775808", 300, 900],
])("annotations of %s give %i and %i seconds", (value, unschedulableSeconds, catchAllSeconds) => {
  const annotations: Record<string, string> = {};
  if (value !== undefined) {
    annotations["kubevirt.io/migrationUnschedulablePodTimeoutSeconds"] = value;
    annotations["kubevirt.io/migrationPendingPodTimeoutSeconds"] = value;
  }
  const migration = { metadata: { annotations }, spec: { vmiName: "a" } };
  expect(pendingPodTimeouts(migration)).toEqual({ unschedulableSeconds, catchAllSeconds });
});

const waiting = { type: "PodScheduled", status: "False", reason: "Unschedulable" };

test.each<[PendingPod, boolean]>([
  [{ status: { phase: "Pending", conditions: [waiting] } }, true],
  [{ status: { phase: "Running", conditions: [waiting] } }, false],
  [{ status: { phase: "Pending", conditions: [{ ...waiting, reason: "Gated" }] } }, false],
  [{ status: { phase: "Pending" } }, false],
  [
    { metadata: { deletionTimestamp: "x" }, status: { phase: "Pending", conditions: [waiting] } },
    false,
  ],
  [{}, false],
])("%j waits for a node: %s", (pod, waits) => {
  expect(isPendingUnschedulable(pod)).toBe(waits);
});

test("a missing migration gets the defaults, and conditions that are not a list are reported with their path", () => {
  expect(pendingPodTimeouts(undefined as never).catchAllSeconds).toBe(900);
  const status = { phase: "Pending", conditions: 7 };
  expect(() => isPendingUnschedulable({ status } as never)).toThrow(
    expect.objectContaining({ code: "MIGRATION_INPUT_INVALID", path: "status.conditions" }),
  );
});
