import { expect, test } from "vitest";
import { consoleKeys, describeGuests, fitScreen } from "./cluster-view.mjs";

/** @typedef {Record<string, any>} KubeObject */

const now = Date.parse("2026-01-01T00:01:00Z");
const none = { vms: [], vmis: [], pods: [], events: [], dataVolumes: [] };
const metadata = {
  ...{ namespace: "default", name: "demo", uid: "1" },
  creationTimestamp: "2026-01-01T00:00:00Z",
};

test("shows where a VMI is, how far it has come and what it waits for", () => {
  const vmis = [{ metadata, spec: {}, status: { phase: "Pending" } }];
  const lines = describeGuests({ ...none, vmis }, now);
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
  const lines = describeGuests({ ...none, vmis: [{ metadata, spec: {}, status }] }, now);
  expect(lines[0]).toBe("1  default/demo  Running  node-1  10.0.0.7");
  expect(lines.at(-1)?.trim()).toBe("Ready=True  LiveMigratable=False (DisksNotLiveMigratable)");
});

test("says so if there are no VMs and no VMIs", () => {
  expect(describeGuests(none, now)).toEqual(["There are no VMs or VMIs."]);
});

/** @param {string} name @param {string} printableStatus @param {KubeObject} [rest] */
const vmOf = (name, printableStatus, { status, ...rest } = {}) => ({
  metadata: { namespace: "default", name },
  spec: { runStrategy: "Always", template: { spec: { domain: {} } } },
  status: { printableStatus, ...status },
  ...rest,
});

test("shows the status of a VM with its VMI, and why another VM has none", () => {
  const message = "claim data does not exist";
  const failed = [{ type: "Failure", status: "True", reason: "FailedCreate", message }];
  const vms = [
    vmOf("broken", "Stopped", { status: { conditions: failed } }),
    vmOf("demo", "Starting"),
    vmOf("off", "Stopped", { spec: { runStrategy: "Halted" } }),
  ];
  const vmis = [{ metadata, spec: {}, status: { phase: "Scheduling" } }];
  const lines = describeGuests({ ...none, vms, vmis }, now);
  expect(lines.filter((line) => !line.startsWith(" "))).toEqual([
    "-  default/broken  VM: Stopped  no VMI",
    "1  default/demo  Scheduling  no node yet  no address yet",
    "-  default/off  VM: Stopped  no VMI",
  ]);
  const text = lines.join("\n");
  expect(text).toContain("\n     FailedCreate: claim data does not exist\n");
  expect(text).toContain("\n     VM: Starting\n");
  expect(text).toContain("\n     spec.runStrategy is Halted: ");
});

test("a VM that waits for a disk says so; a disk of the same name in another namespace does not count", () => {
  const volumes = [{ name: "root", dataVolume: { name: "disk" } }];
  const vm = vmOf("waits", "Provisioning", {
    spec: { runStrategy: "Always", template: { spec: { volumes } } },
  });
  const status = { phase: "ImportInProgress", progress: "12%" };
  const disk = { metadata: { namespace: "default", name: "disk" }, status };
  const other = { metadata: { namespace: "a", name: "disk" }, status: { phase: "Failed" } };
  const lines = describeGuests({ ...none, vms: [vm], dataVolumes: [other, disk] }, now);
  expect(lines[0]).toBe("-  default/waits  VM: Provisioning  no VMI");
  expect(lines[1]).toContain("DataVolume disk (ImportInProgress, 12%)");
});

test("each of sixty VMIs has a key of its own, letters after nine, and none is the key that ends the view", () => {
  const vmis = Array.from({ length: 62 }, (_, at) => ({
    metadata: { ...metadata, name: `vm-${String(at + 1).padStart(2, "0")}`, uid: `${at}` },
    spec: {},
  }));
  const lines = describeGuests({ ...none, vmis }, now).filter((line) => !line.startsWith(" "));
  const keys = lines.map((line) => line.slice(0, line.indexOf(" ")));
  expect(keys.slice(8, 11)).toEqual(["9", "a", "b"]);
  expect(keys.slice(0, 60).join("")).toBe(consoleKeys);
  expect(new Set(consoleKeys).size).toBe(60);
  expect(consoleKeys).not.toContain("q");
  expect(keys.slice(60)).toEqual(["-", "-"]);
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

test("of several Pods, that on the VMI's node counts, and a move says where to", () => {
  const podOn = (/** @type {string} */ node, /** @type {string} */ creationTimestamp) => ({
    metadata: {
      ...{ namespace: "default", name: `virt-launcher-${node}`, creationTimestamp },
      ...{ labels: { "kubevirt.io/created-by": "1" }, ownerReferences: [{ uid: "1" }] },
    },
    spec: { nodeName: node },
    status: { startTime: creationTimestamp },
  });
  const [source, target] = [
    podOn("node-1", "2026-01-01T00:00:01Z"),
    podOn("node-2", "2026-01-01T00:00:09Z"),
  ];
  const migrationState = { sourceNode: "node-1", targetNode: "node-2" };
  const shown = (/** @type {KubeObject} */ status) =>
    describeGuests({ ...none, vmis: [{ ...running, status }], pods: [target, source] }, now);
  const moving = shown({ ...running.status, migrationState });
  expect(moving[0]).toBe("1  default/demo  Running  node-1  10.110.129.5  moving to node-2");
  expect(moving[1]).toContain("pod-created 1 s");
  const moved = shown({
    ...{ ...running.status, nodeName: "node-2" },
    migrationState: { ...migrationState, completed: true },
  });
  expect(moved[0]).toBe("1  default/demo  Running  node-2  10.110.129.5");
  expect(moved[1]).toContain("pod-created 9 s");
});

test("control characters in what Pods report do not reach the terminal", () => {
  const conditions = [{ type: "Ready", status: "False", reason: "Bad\x1b[2J" }];
  const status = { ...running.status, conditions };
  const lines = describeGuests({ ...none, vmis: [{ ...running, status }] }, now);
  expect(lines.join("\n")).toContain("Ready=False (Bad [2J)");
  expect(lines.join("")).not.toMatch(/\p{Cc}/u);
});

test.each([40, 60, 80])("in a terminal of %i columns, no line breaks inside a word", (columns) => {
  const other = { ...vmOf("off", "Stopped"), spec: { runStrategy: "Halted" } };
  const objects = { ...none, vmis: [running], vms: [vmOf("demo", "Running"), other] };
  const lines = describeGuests(objects, now, columns);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
  // The same words in the same order as on one line each.
  const words = (/** @type {string[]} */ all) => all.join(" ").split(/\s+/);
  expect(words(lines)).toEqual(words(describeGuests(objects, now)));
  expect(lines.filter((line) => !line.startsWith("     "))).toHaveLength(2);
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
