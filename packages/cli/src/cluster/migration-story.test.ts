import { encodeGrant, type Handover, type Holder } from "@virtkit/api/grant";
import { brokenPostCopyEvent, failedMigrationEvent } from "@virtkit/api/status";
import { expect, test } from "vitest";
import { migrationLine } from "./migration-line.ts";
import { migrationStory, migrationText } from "./migration-story.ts";

const reached = (...phases: readonly string[]) => phases.map((phase) => ({ phase }));

function migrationOf(status: object): Parameters<typeof migrationStory>[0] {
  const metadata = { name: "mig", uid: "mig-uid", namespace: "ns" };
  return { metadata, spec: { vmiName: "vm" }, status } as never;
}

const vmi = (migrationState: object) => ({
  status: { migrationState: { migrationUid: "mig-uid", sourceNode: "a", ...migrationState } },
});

test.each([
  [
    ["Pending", "Scheduling", "Failed"],
    "the control plane gave up in phase Scheduling: no node has room",
  ],
  [
    ["Pending", "PreparingTarget", "Failed"],
    "the target gave up in phase PreparingTarget: no node has room",
  ],
  [["PreparingTarget", "Running", "Failed"], "it was given up in phase Running: no node has room"],
])("a failure after %j names phase, side and reason", (phases, text) => {
  const migration = migrationOf({ phase: "Failed", phaseTransitionTimestamps: reached(...phases) });
  const state = { failed: true, failureReason: "no node\nhas room", targetNode: "b" };
  const story = migrationStory(migration, { vmi: vmi(state) });
  expect(migrationText(story)).toBe(`it did not move from a to b: ${text}`);
});

test.each([
  ["Running", { component: "virt-handler", host: "b" }, "the target gave up in phase Running"],
  ["Running", { component: "virt-handler", host: "a" }, "the source gave up in phase Running"],
  ["Running", { component: "virt-controller" }, "the control plane gave up in phase Running"],
  ["Running", { component: "virt-handler" }, "it was given up in phase Running"],
  ["Running", { component: "virt-handler", host: "c" }, "it was given up in phase Running"],
  ["PreparingTarget", { component: "virt-handler", host: "a" }, "the source gave up in phase Prep"],
])("a failure in phase %s that %j reported first is that side's", (phase, source, text) => {
  const phaseTransitionTimestamps = reached(phase, "Failed");
  const migration = migrationOf({ phase: "Failed", phaseTransitionTimestamps });
  const failed = vmi({ failed: true, failureReason: "the disk is gone", targetNode: "b" });
  const told = (from: object, firstTimestamp: string) => ({
    ...failedMigrationEvent("mig-uid", "the disk is gone"),
    involvedObject: { kind: "VirtualMachineInstance", name: "vm", uid: "vmi-uid" },
    ...{ source: from, firstTimestamp },
  });
  const later = told({ component: "virt-handler", host: "a" }, "2026-01-01T00:00:02Z");
  const events = [later, told(source, "2026-01-01T00:00:01Z")];
  const story = migrationStory(migration, {
    ...{ vmi: { metadata: { uid: "vmi-uid" }, ...failed }, events },
  });
  expect(migrationText(story)).toContain(`did not move from a to b: ${text}`);
  expect(migrationText(story)).toContain(": the disk is gone");
});

test("does not mistake the state of another migration for its own, and takes the reason of a failure from events", () => {
  const phaseTransitionTimestamps = reached("Pending", "Failed");
  const migration = migrationOf({ phase: "Failed", phaseTransitionTimestamps });
  const other = vmi({ migrationUid: "other", failureReason: "of another" });
  const event = (message: string, lastTimestamp: string, type = "Warning") => ({
    ...{ type, message, lastTimestamp },
    involvedObject: { name: "mig" },
  });
  const events = [
    event("the last one", "2026-01-01T00:00:02Z"),
    event("an earlier one", "2026-01-01T00:00:01Z"),
    event("all is well", "2026-01-01T00:00:03Z", "Normal"),
  ];
  expect(migrationText(migrationStory(migration, { vmi: other, events }))).toBe(
    "it did not move: the control plane gave up in phase Pending: the last one",
  );
  expect(migrationText(migrationStory(migration))).toContain("its events do not say why");
});

test("a migration in progress shows how far it is, and a finished one says so", () => {
  const running = migrationStory(migrationOf({ phase: "Running" }), {
    vmi: vmi({ targetNode: "b" }),
  });
  expect(migrationLine(running, 2_345)).toBe(
    "[##......................]  10 %  moving the guest, a to b, 2.3 s",
  );
  const fresh = migrationStory(migrationOf({}));
  expect(migrationLine(fresh, 0)).toBe(
    "[........................]   0 %  waiting for its turn, 0.0 s",
  );
  const done = migrationStory(migrationOf({ phase: "Succeeded" }));
  expect(migrationLine(done, 0)).toMatch(/^\[#{24}\] 100 % {2}moved/);
  const moved = migrationStory(
    migrationOf({ phase: "Succeeded", migrationState: { targetNode: "b" } }),
  );
  expect([moved.outcome, migrationText(moved)]).toEqual(["moved", "it moved to b"]);
});

test("while the guest moves, the bar shows what was sent, if its node reports that for this migration", () => {
  const migration = migrationOf({ phase: "Running" });
  const line = (migrationUID: unknown): string => {
    const transfer = { migrationUID, total: 400e6, remaining: 100e6, bytesPerSecond: 32e6, at: 1 };
    const annotations = { "virtkit.io/migration-transfer": JSON.stringify(transfer) };
    return migrationLine(migrationStory(migration, { vmi: { metadata: { annotations } } }), 4_000);
  };
  expect(line(migration.metadata?.uid)).toBe(
    "[###################.....]  77 %  moving the guest, 32.0 MB/s, 100 MB left, 4.0 s",
  );
  expect(line("another")).toBe("[##......................]  10 %  moving the guest, 4.0 s");
});

const holder = (node: string): Holder => ({
  ...{ podUID: `pod-${node}`, containerID: "c", node, machineID: "m", bootID: "b", nonce: "n" },
});

/** A VMI whose guest is being handed over. */
function handedOver(grant: Partial<Handover> = {}) {
  const counted = { vmiUID: "vmi-uid", epoch: 1, seq: 3, migrationUID: "mig-uid" } as const;
  const sides = { holder: holder("a"), target: holder("b") };
  const value = encodeGrant({ ...counted, ...sides, state: "Committed", ...grant });
  const metadata = { name: "vm", uid: "vmi-uid", annotations: { "virtkit.io/run-grant": value } };
  const pods = { sourcePod: "launcher-1", targetPod: "launcher-2" };
  return { metadata, ...vmi({ targetNode: "b", ...pods }) };
}

const createdAt = "2026-01-01T00:00:00Z";
const inPostCopy = {
  ...migrationOf({ phase: "Running" }),
  metadata: { name: "mig", uid: "mig-uid", creationTimestamp: createdAt },
};
const report = {
  ...brokenPostCopyEvent("the target does not\nanswer: see that the link works"),
  involvedObject: { kind: "VirtualMachineInstance", name: "vm", uid: "vmi-uid" },
  lastTimestamp: "2026-01-01T00:01:00Z",
};

test("a broken post-copy names phase, side and reason, and what to do about it", () => {
  const story = migrationStory(inPostCopy, { vmi: handedOver(), events: [report] });
  expect(story).toMatchObject({ outcome: "moving", phase: "Running", side: "the source" });
  expect(story).toMatchObject({ postCopy: "broken", reportedAt: report.lastTimestamp });
  const [first, second] = migrationText(story).split("\n");
  expect(first).toBe(
    "it is moving from a to b (Running), but its post-copy is broken: the source reported at 2026-01-01T00:01:00Z: the target does not answer: see that the link works",
  );
  expect(second).toMatch(
    /^ {2}What to do: make sure that nodes a and b reach each other .*\(launcher-1 and launcher-2\).*Delete neither Pod/,
  );
});

test.each([
  ["nothing has broken", handedOver(), [], "(Running, in post-copy)"],
  [
    "the report is of an earlier migration",
    handedOver(),
    [{ ...report, lastTimestamp: "2025-12-31T23:59:59Z" }],
    "(Running, in post-copy)",
  ],
  ["it is not committed", handedOver({ state: "HandingOver" }), [report], "(Running)"],
  ["another migration is committed", handedOver({ migrationUID: "other" }), [report], "(Running)"],
] as const)("no post-copy is called broken if %s", (_, given, events, end) => {
  const text = migrationText(migrationStory(inPostCopy, { vmi: given, events }));
  expect(text).toBe(`it is moving from a to b ${end}`);
});

test("a post-copy that was recovered is not called broken", () => {
  const done = { ...inPostCopy, status: { phase: "Succeeded" } } as typeof inPostCopy;
  const story = migrationStory(done, { vmi: handedOver(), events: [report] });
  expect(migrationText(story)).toBe("it moved from a to b");
});
