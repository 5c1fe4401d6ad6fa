import { expect, test } from "vitest";
import { nodeTrouble } from "./node-trouble.ts";

const now = Date.parse("2026-01-01T00:10:00Z");
const node = (beat: string | undefined, ready: object) => ({
  metadata: { name: "n1", annotations: beat ? { "kubevirt.io/heartbeat": beat } : {} },
  status: { conditions: [{ type: "Ready", ...ready }] },
});

test("a node that is not ready, or whose agent is silent, is told", () => {
  expect(nodeTrouble(node("2026-01-01T00:09:00Z", { status: "True" }), now)).toBeUndefined();
  expect(
    nodeTrouble(node(undefined, { status: "Unknown", message: "Kubelet stopped\n" }), now),
  ).toBe("node n1 is not ready: Kubelet stopped ");
  expect(nodeTrouble(node(undefined, { status: "True" }), now)).toBe(
    "no node agent has ever run on node n1",
  );
  expect(nodeTrouble(node("2026-01-01T00:00:00Z", { status: "True" }), now)).toBe(
    "the node agent of node n1 has not been heard from since 2026-01-01T00:00:00Z",
  );
});
