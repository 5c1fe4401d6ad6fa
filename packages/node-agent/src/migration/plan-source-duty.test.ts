import { clusterConfig } from "@virtkit/api/config";
import { expect, test } from "vitest";
import {
  claimed,
  handingOver,
  listening,
  movingVmi,
  report,
  sourceView,
  to,
} from "../testing/moving-sample.ts";
import { movingUid, planSourceDuty, type SourceView } from "./plan-source-duty.ts";

const act = (change: Partial<SourceView>) => planSourceDuty(sourceView(change)).act;

test("the launcher begins once the target listens and the grant hands the guest over", () => {
  const { act: begun, owns } = planSourceDuty(sourceView());
  expect(begun).toMatchObject({
    do: "begin",
    migration: { migrationUID: "m-1", vmiUID: "vmi-1", epoch: 1, seq: 4 },
    order: { target: { address: "192.0.2.2", ports: { "4001": 0 } } },
  });
  expect(owns).toBe(true);
});

test("what is sent is encrypted, and clear only where the migration's options or the cluster say so", () => {
  expect(act({})).toMatchObject({ do: "begin", encryption: "qemu" });
  const vmi = movingVmi({ ...listening, migrationConfiguration: { disableTLS: true } });
  expect(act({ vmi })).toMatchObject({ do: "begin", encryption: "none" });
  const config = clusterConfig({ migrations: { disableTLS: true } });
  expect(act({ config })).toMatchObject({ do: "begin", encryption: "none" });
});

test.each<[string, Partial<SourceView>]>([
  ["nothing is handed over", { grant: claimed }],
  ["the target is not known to listen", { vmi: movingVmi() }],
  ["the launcher does not answer", { word: undefined }],
  ["it is under way", { word: report() }],
  ["the guest is committed to post-copy", { grant: { ...handingOver, state: "Committed" } }],
  ["another incarnation holds the guest", { holder: to }],
])("the launcher is asked for nothing where %s", (_, change) => {
  expect(act(change)).toEqual({ do: "nothing" });
});

test.each<[string, SourceView["vmi"]]>([
  [
    "the VMI is deleted",
    movingVmi(listening, { uid: "vmi-1", deletionTimestamp: "2026-01-01T00:00:00Z" }),
  ],
  ["somebody aborts it", movingVmi({ ...listening, abortRequested: true })],
  ["the target has failed", movingVmi({ ...listening, failed: true })],
  ["the status is of another migration", movingVmi({ ...listening, migrationUid: "m-2" })],
])("a handover is taken back, or cancelled once it is under way, where %s", (_, vmi) => {
  expect(act({ vmi })).toMatchObject({ do: "take-back", migrationUID: "m-1" });
  expect(act({ vmi, word: report() })).toMatchObject({ do: "cancel", migrationUID: "m-1" });
  // A decision is not made twice.
  expect(act({ vmi, word: report({ decision: "aborted" }) })).toEqual({ do: "nothing" });
});

test("what was aborted and is handed over again is taken back by the decision that is on disk", () => {
  const word = report({ decision: "aborted", settled: "runs", outcome: "stayed", why: "broken" });
  expect(act({ word })).toMatchObject({ do: "take-back", isDecided: true, reason: "broken" });
});

test("a migration that cannot begin is taken back with the reason", () => {
  expect(act({ hopeless: "nobody answers" })).toMatchObject({
    do: "take-back",
    reason: "nobody answers",
  });
});

test("a guest that ended before it moved is taken back, so that its end can be told", () => {
  expect(act({ domain: { state: "Shutoff", reason: "Shutdown" } })).toMatchObject({
    do: "take-back",
  });
});

test("a released guest is forgotten once libvirt says that it is gone, and not before", () => {
  const grant = { ...handingOver, state: "Released" } as const;
  const word = report({ decision: "released" });
  expect(act({ grant, word })).toEqual({ do: "nothing" });
  expect(act({ grant, word, domain: { state: "Shutoff", reason: "Migrated" } })).toEqual({
    do: "leave",
  });
});

test("the status says when it began", () => {
  const { migrationState } = planSourceDuty(sourceView({ word: report() }));
  expect(migrationState).toMatchObject({ startTimestamp: "1970-01-01T00:00:01Z", mode: "PreCopy" });
});

test("a failure is told once the guest is known to go on, with the launcher's reason", () => {
  const vmi = movingVmi({
    ...listening,
    startTimestamp: "1970-01-01T00:00:01Z",
    abortRequested: true,
  });
  const word = report({
    outcome: "stayed",
    why: "aborted: somebody asked for it",
    decision: "aborted",
  });
  expect(planSourceDuty(sourceView({ vmi, word })).migrationState?.failed).toBeUndefined();
  const settled = planSourceDuty(
    sourceView({ vmi, grant: claimed, word: { ...word, settled: "runs" } }),
  );
  expect(settled.migrationState).toMatchObject({
    ...{ failed: true, completed: true, abortStatus: "Succeeded" },
    ...{ endTimestamp: "1970-01-01T00:00:02Z", failureReason: "aborted: somebody asked for it" },
  });
  expect(settled.owns).toBe(false);
});

test("a guest that moves belongs to the migration, whatever the VMI says, until the grant is somebody's again", () => {
  const gone = movingVmi({ completed: true, endTimestamp: "2026-01-01T00:00:00Z" });
  expect(planSourceDuty(sourceView({ vmi: gone })).owns).toBe(true);
  expect(planSourceDuty(sourceView({ grant: claimed })).owns).toBe(false);
  expect(planSourceDuty(sourceView({ grant: claimed, word: report() })).owns).toBe(true);
});

test("after a launcher's end nothing is said of its guest before the target has said that it has none", () => {
  const dead = { hasEnded: true, word: undefined } as const;
  expect(planSourceDuty(sourceView(dead)).owns).toBe(true);
  const over = movingVmi({ ...listening, completed: true, failed: true });
  expect(planSourceDuty(sourceView({ ...dead, vmi: over })).owns).toBe(false);
});

test("the launcher is asked about the migration that the grant names, and else about the VMI's", () => {
  const { vmi, holder } = sourceView();
  expect(movingUid({ vmi, grant: { ...handingOver, migrationUID: "m-0" }, holder }, "node-a")).toBe(
    "m-0",
  );
  expect(movingUid({ vmi, grant: claimed, holder }, "node-a")).toBe("m-1");
  expect(movingUid({ vmi, grant: claimed, holder }, "node-b")).toBeUndefined();
});
