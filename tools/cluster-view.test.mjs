import { expect, test } from "vitest";
import { describeVmis, fitScreen } from "./cluster-view.mjs";

const metadata = {
  ...{ namespace: "default", name: "demo", uid: "1" },
  creationTimestamp: "2026-01-01T00:00:00Z",
};

test("shows where a VMI is, how far it has come and what it waits for", () => {
  const lines = describeVmis({
    vmis: [{ metadata, spec: {}, status: { phase: "Pending" } }],
    pods: [],
    events: [],
  });
  expect(lines[0]).toBe("1  default/demo  Pending  no node yet  no address yet");
  expect(lines.join("\n")).toMatch(/waiting pod-created: /);
});

test("shows a running VMI's address, and conditions with the reason if they are not true", () => {
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

test("says so if there are no VMIs", () => {
  expect(describeVmis({ vmis: [], pods: [], events: [] })).toEqual(["There are no VMIs."]);
});

const running = {
  metadata,
  spec: {},
  status: {
    ...{ phase: "Running", nodeName: "node-1", interfaces: [{ ipAddress: "10.110.129.5" }] },
    phaseTransitionTimestamps: ["Scheduling", "Scheduled", "Running"].map((phase) => ({
      ...{ phase, phaseTransitionTimestamp: "2026-01-01T00:00:03Z" },
    })),
    conditions: ["Ready", "AgentConnected", "LiveMigratable"].map((type) => ({
      ...{ type, status: "True", lastTransitionTime: "2026-01-01T00:00:06Z" },
    })),
  },
};

test.each([40, 60, 80])("in a terminal of %i columns, no line breaks inside a word", (columns) => {
  const objects = { vmis: [running], pods: [], events: [] };
  const lines = describeVmis(objects, columns);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
  // The same words in the same order as on one line each.
  const words = (/** @type {string[]} */ all) => all.join(" ").split(/\s+/);
  expect(words(lines)).toEqual(words(describeVmis(objects)));
  expect(lines.slice(1).every((line) => line.startsWith("     "))).toBe(true);
});

test("a screen has as many rows as the terminal, and says how much it hides", () => {
  const head = [
    "Help for people that is longer than a line.",
    "  alias kubectl=/a/long/path/to/kubectl",
    "",
  ];
  const lines = Array.from({ length: 9 }, (_, at) => `line ${at + 1}`);
  const size = { columns: 30, rows: 12 };
  const screen = fitScreen(head, lines, size);
  expect(screen).toEqual([
    "Help for people that is longer",
    "than a line.",
    // Not broken, because it is copied; the terminal shows it in two rows.
    "  alias kubectl=/a/long/path/to/kubectl",
    "",
    ...lines.slice(0, 5),
    "... 4 more lines: the terminal",
  ]);
  expect(fitScreen(head, lines, { columns: 30, rows: 15 }).slice(-9)).toEqual(lines);
});
