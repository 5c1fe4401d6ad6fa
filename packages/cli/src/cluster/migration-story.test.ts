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
  [
    ["PreparingTarget", "Running", "Failed"],
    "the source gave up in phase Running: no node has room",
  ],
])("a failure after %j names phase, side and reason", (phases, text) => {
  const migration = migrationOf({ phase: "Failed", phaseTransitionTimestamps: reached(...phases) });
  const state = { failed: true, failureReason: "no node\nhas room", targetNode: "b" };
  const story = migrationStory(migration, { vmi: vmi(state) });
  expect(migrationText(story)).toBe(`it did not move from a to b: ${text}`);
});

test("the state of another migration is not taken for its own, and events say why it failed", () => {
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

test("one that moves shows how far it is, and one that has moved says so", () => {
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

test("while the guest moves the bar shows what was sent, where its node says that of this very migration", () => {
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
