import { expect, test } from "vitest";
import { nodeTrouble } from "./node-trouble.ts";

const now = Date.parse("2026-01-01T00:10:00Z");
const node = (beat: string | undefined, ready: object) => ({
  metadata: { name: "n1", annotations: beat ? { "kubevirt.io/heartbeat": beat } : {} },
  status: { conditions: [{ type: "Ready", ...ready }] },
});

test("reports a node that is not ready, or whose agent is silent", () => {
  expect(nodeTrouble(node("2026-01-01T00:09:00Z", { status: "True" }), now)).toBeUndefined();
  expect(
    nodeTrouble(node(undefined, { status: "Unknown", message: "Kubelet stopped\n" }), now),
  ).toBe("node n1 is not ready: Kubelet stopped ");
  expect(nodeTrouble(node(undefined, { status: "Unknown", reason: "Lost" }), now, true)).toBe(
    'node n1 is not ready: Lost; guests that it may still run are not started elsewhere: if you have switched it off, run "virtkit fence confirm n1"',
  );
  expect(nodeTrouble(node(undefined, { status: "True" }), now)).toBe(
    "no node agent has ever run on node n1",
  );
  expect(nodeTrouble(node("2026-01-01T00:00:00Z", { status: "True" }), now)).toBe(
    "the node agent of node n1 has not been heard from since 2026-01-01T00:00:00Z",
  );
});
