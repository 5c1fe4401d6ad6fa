import { expect, test } from "vitest";
import { describeVmis } from "./cluster-view.mjs";

const metadata = {
  ...{ namespace: "default", name: "demo", uid: "1" },
  creationTimestamp: "2026-01-01T00:00:00Z",
};

test("a VMI is told with where it is, how far it has come and what it waits for", () => {
  const lines = describeVmis({
    vmis: [{ metadata, spec: {}, status: { phase: "Pending" } }],
    pods: [],
    events: [],
  });
  expect(lines[0]).toBe("1  default/demo  Pending  no node yet  no address yet");
  expect(lines.join("\n")).toMatch(/waiting pod-created: /);
});

test("one that runs has its address, and conditions with the reason where they are not true", () => {
  const status = {
    ...{ phase: "Running", nodeName: "node-1", interfaces: [{ ipAddress: "10.0.0.7" }] },
    conditions: [
      { type: "Ready", status: "True" },
      { type: "LiveMigratable", status: "False", reason: "DisksNotLiveMigratable" },
    ],
  };
  const lines = describeVmis({ vmis: [{ metadata, spec: {}, status }], pods: [], events: [] });
  expect(lines[0]).toBe("1  default/demo  Running  node-1  10.0.0.7");
  expect(lines.at(-1)?.trim()).toBe("Ready=True  LiveMigratable=False (DisksNotLiveMigratable)");
});

test("without VMIs it says so", () => {
  expect(describeVmis({ vmis: [], pods: [], events: [] })).toEqual(["There are no VMIs."]);
});
