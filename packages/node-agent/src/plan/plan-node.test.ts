import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { sampleVmi } from "../testing/sample-vmi.ts";
import type { StepOutcome } from "./node-step.ts";
import type { NodeDomain, NodeView } from "./node-view.ts";
import { planNode } from "./plan-node.ts";

// What KubeVirt answers is in packages/conformance; here is what it does not have.

const now = Date.parse("2026-01-01T10:00:00Z");
const ready = { state: "ready", isConnected: true } as const;

function vmiWith(status: VirtualMachineInstanceStatus): VirtualMachineInstance {
  return { ...sampleVmi(), status: { nodeName: "node01", ...status } };
}

function viewOf(view: Partial<NodeView>): NodeView {
  return { launcher: ready, node: "node01", config: clusterConfig(), now, ...view };
}

function domainOf(vmi: VirtualMachineInstance): NodeDomain {
  return {
    ...{ name: "default_vm", vmiUid: vmi.metadata?.uid ?? "", state: "Running", reason: "Unknown" },
    ...{ agent: "disconnected", interfaces: [], disks: [] },
  };
}

function does(view: NodeView, outcomes: readonly StepOutcome[] = []): readonly string[] {
  return planNode(view, outcomes).steps.map((step) => step.do);
}

test("a guest that does not exist yet is prepared, claimed and started", () => {
  const plan = planNode(viewOf({ vmi: vmiWith({ phase: "Scheduled" }) }));
  expect(plan.steps.map((step) => step.do)).toEqual([
    ...["mount-hotplug", "prepare", "hook", "sync", "housekeeping", "write-status"],
  ]);
  expect(plan.steps.find((step) => step.do === "sync")).toEqual({ do: "sync", claims: true });
});

test("a running guest is updated and not claimed again", () => {
  const vmi = vmiWith({ phase: "Running" });
  const { steps } = planNode(viewOf({ vmi, domain: domainOf(vmi) }));
  expect(steps.find((step) => step.do === "sync")).toEqual({ do: "sync", claims: false });
});

test("an interrupted start is repeated; a guest that has run is not started again", () => {
  const vmi = vmiWith({ phase: "Scheduled" });
  const off = { ...domainOf(vmi), state: "Shutoff" } as const;
  const again = planNode(viewOf({ vmi, domain: { ...off, isUnstarted: true } }));
  expect(again.steps.find((step) => step.do === "sync")).toEqual({ do: "sync", claims: true });
  expect(again.steps.map((step) => step.do)).not.toContain("delete");
  expect(does(viewOf({ vmi, domain: off }))).toContain("delete");
  const running = vmiWith({ phase: "Running" });
  const lost = viewOf({ vmi: running, domain: { ...off, isUnstarted: true } });
  expect(does(lost)).toContain("delete");
  expect(does(lost)).not.toContain("sync");
});

test("without permission by the run grant nothing is prepared, and the reason is given", () => {
  const vmi = vmiWith({ phase: "Scheduled" });
  const plan = planNode(viewOf({ vmi, grantObstacle: "another container of this Pod holds it" }));
  expect(plan.steps.map((step) => step.do)).toEqual(["write-status"]);
  const [write] = plan.steps;
  const conditions = write?.do === "write-status" ? write.status.conditions : [];
  expect(conditions).toContainEqual(
    expect.objectContaining({
      ...{ type: "Synchronized", status: "False" },
      message: "another container of this Pod holds it",
    }),
  );
  expect(plan.requeue).toEqual(["rateLimited"]);
});

test.each([
  ["Running", undefined],
  ["Running", "2026-01-01T09:00:00Z"],
  ["Scheduled", undefined],
] as const)(
  "a silent launcher of a %s VMI (deleted: %s) is reported in a condition, and nothing is done",
  (phase, deletionTimestamp) => {
    const found = vmiWith({ phase });
    const metadata = { ...found.metadata, ...(deletionTimestamp ? { deletionTimestamp } : {}) };
    const vmi = { ...found, metadata };
    const launcher = { state: "silent", isConnected: false, problem: "nobody answers" } as const;
    const plan = planNode(viewOf({ vmi, launcher }));
    expect(plan.steps).toEqual([
      {
        do: "write-status",
        status: {
          ...vmi.status,
          conditions: [expect.objectContaining({ type: "Synchronized", reason: "LauncherSilent" })],
        },
      },
    ]);
    expect(plan.requeue).toEqual(["rateLimited"]);
    // And only once.
    const [write] = plan.steps;
    const status = write?.do === "write-status" ? write.status : {};
    expect(planNode(viewOf({ vmi: { ...vmi, status }, launcher })).steps).toEqual([]);
  },
);

test("an older VMI's guest with the same name is left alone until its launcher is proven to have ended", () => {
  const vmi = vmiWith({ phase: "Scheduled" });
  const domain = { ...domainOf(vmi), vmiUid: "older" };
  expect(does(viewOf({ vmi, domain }))).toEqual([]);
  expect(does(viewOf({ vmi, domain, launcher: { state: "silent", isConnected: false } }))).toEqual(
    [],
  );
  const launcher = { state: "ended", isConnected: false } as const;
  const { steps } = planNode(viewOf({ vmi, domain, launcher }));
  expect(steps).toEqual([{ do: "clean-up", uid: "older" }]);
});

test("a failed step ends the pass, and the outcome of each step is taken into account", () => {
  const view = viewOf({ vmi: vmiWith({ phase: "Scheduled" }) });
  const done: StepOutcome = { kind: "done" };
  const failed: StepOutcome = { kind: "failed", message: "no such disk" };
  expect(does(view, [done, failed])).toEqual(["mount-hotplug", "prepare", "write-status"]);
  expect(planNode(view, [done, failed]).events).toMatchObject([{ reason: "SyncFailed" }]);
  expect(does(view, [done, { kind: "later" }])).toEqual([
    "mount-hotplug",
    "prepare",
    "write-status",
  ]);
});
