import { expect, test } from "vitest";
import type { ContainerSeen, PodObject } from "./cluster-objects.ts";
import { isFailing, isGoingDown, isReady } from "./pod-state.ts";

function pod(containers: readonly ContainerSeen[], phase = "Running"): PodObject {
  return { metadata: {}, status: { phase, containerStatuses: containers } };
}

const running = { running: {} };
const ended = (exitCode: number) => ({ terminated: { exitCode } });

test.each([
  [
    "the launcher runs, whether the guest is ready or not",
    [{ name: "compute", state: running }],
    true,
  ],
  ["the launcher waits", [{ name: "compute", state: { waiting: {} } }], false],
  ["Istio's proxy runs without being ready", [{ name: "istio-proxy", state: running }], true],
  ["another container is not ready", [{ name: "sidecar", ready: false, state: running }], false],
  ["the launcher has ended", [{ name: "compute", ready: true, state: ended(0) }], false],
])("%s: ready is %s", (_, containers, expected) => {
  expect(isReady(pod(containers))).toBe(expected);
});

test("a launcher that ended successfully is going down, and has not failed", () => {
  const done = pod([{ name: "compute", state: ended(0) }]);
  expect([isGoingDown(done), isFailing(done)]).toEqual([true, false]);
  const crashed = pod([{ name: "compute", state: ended(1) }]);
  expect([isGoingDown(crashed), isFailing(crashed)]).toEqual([true, true]);
});

test("a Pod that is being deleted is going down", () => {
  const deleted = { ...pod([]), metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } };
  expect([isGoingDown(deleted), isFailing(deleted), isReady(deleted)]).toEqual([true, true, false]);
});
