import { clusterConfig } from "@virtkit/api/config";
import { migrationTransferAnnotation, readMigrationTransfer } from "@virtkit/api/status";
import type { MigrationReport } from "@virtkit/launcher/client";
import { expect, test } from "vitest";
import {
  claimed,
  config,
  handingOver,
  listening,
  movingVmi,
  report,
  sourceView,
  to,
} from "../testing/moving-sample.ts";
import { movingUid, planSourceDuty, type SourceView } from "./plan-source-duty.ts";
import { withTransferNote } from "./transfer-note.ts";

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

test("data is encrypted, unless the migration's options or the cluster say otherwise", () => {
  expect(act({})).toMatchObject({ do: "begin", encryption: "qemu" });
  const vmi = movingVmi({ ...listening, migrationConfiguration: { disableTLS: true } });
  expect(act({ vmi })).toMatchObject({ do: "begin", encryption: "none" });
  const clear = clusterConfig({ migrations: { disableTLS: true } });
  expect(act({ config: clear })).toMatchObject({ do: "begin", encryption: "none" });
});

test.each<[string, Partial<SourceView>]>([
  ["nothing is handed over", { grant: claimed }],
  ["the target is not known to listen", { vmi: movingVmi() }],
  ["the launcher does not answer", { word: undefined }],
  ["the migration is in progress", { word: report() }],
  [
    "the guest is committed to post-copy",
    { grant: { ...handingOver, state: "Committed" }, word: "unbegun" },
  ],
  ["another incarnation holds the guest", { holder: to }],
])("the launcher is asked for nothing if %s", (_, change) => {
  expect(act(change)).toEqual({ do: "nothing" });
});

const committed = { ...handingOver, state: "Committed" } as const;
const place = { address: "192.0.2.2", ports: listening.targetDirectMigrationNodePorts };

test("after the switch to post-copy, a connection that is gone, or leads where nobody listens any more, is opened again", () => {
  const split = { grant: committed, word: report({ decision: "committed" }) };
  const again = { do: "reopen", migrationUID: "m-1", target: place, encryption: "qemu" };
  expect(act(split)).toEqual(again);
  expect(act({ ...split, wayTo: { ...place, network: "Pod" } })).toEqual({ do: "nothing" });
  expect(act({ ...split, wayTo: { ...place, ports: { "4003": 0, "4004": 49152 } } })).toEqual(
    again,
  );
  expect(act({ ...split, wayTo: { ...place, address: "192.0.2.3" } })).toEqual(again);
});

test.each<[string, Partial<SourceView>]>([
  ["the target is not known to listen", { vmi: movingVmi() }],
  ["the VMI names another migration", { vmi: movingVmi({ ...listening, migrationUid: "m-2" }) }],
  ["the launcher does not answer", { word: undefined }],
  ["the launcher's part is over", { word: report({ settled: "ended" }) }],
])("no connection is opened after the switch if %s", (_, change) => {
  expect(act({ grant: committed, word: report(), ...change })).toEqual({ do: "nothing" });
});

test.each<[string, SourceView["vmi"]]>([
  [
    "the VMI is deleted",
    movingVmi(listening, { uid: "vmi-1", deletionTimestamp: "2026-01-01T00:00:00Z" }),
  ],
  ["somebody aborts it", movingVmi({ ...listening, abortRequested: true })],
  ["the target has failed", movingVmi({ ...listening, failed: true })],
  ["the status belongs to another migration", movingVmi({ ...listening, migrationUid: "m-2" })],
])("a handover is taken back, or cancelled once it is in progress, if %s", (_, vmi) => {
  expect(act({ vmi })).toMatchObject({ do: "take-back", migrationUID: "m-1" });
  expect(act({ vmi, word: report() })).toMatchObject({ do: "cancel", migrationUID: "m-1" });
  // A decision is not made twice.
  expect(act({ vmi, word: report({ decision: "aborted" }) })).toEqual({ do: "nothing" });
});

test("an aborted guest that is handed over again is taken back by the decision on disk", () => {
  const word = report({ decision: "aborted", settled: "runs", outcome: "stayed", why: "broken" });
  expect(act({ word })).toMatchObject({ do: "take-back", isDecided: true, reason: "broken" });
});

test("a migration that cannot begin is taken back with the reason", () => {
  expect(act({ hopeless: "nobody answers" })).toMatchObject({
    do: "take-back",
    reason: "nobody answers",
  });
});

test("a guest that ended before it moved is taken back, so that its end can be reported", () => {
  expect(act({ domain: { state: "Shutoff", reason: "Shutdown" } })).toMatchObject({
    do: "take-back",
  });
});

test("a released guest is forgotten only once libvirt says that it is gone", () => {
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

test("a failure is reported once the guest is known to continue, with the launcher's reason", () => {
  const vmi = movingVmi({
    ...listening,
    startTimestamp: "1970-01-01T00:00:01Z",
    abortRequested: true,
  });
  const word = report({
    outcome: "stayed",
    why: "aborted: an abort was requested",
    decision: "aborted",
  });
  expect(planSourceDuty(sourceView({ vmi, word })).migrationState?.failed).toBeUndefined();
  const settled = planSourceDuty(
    sourceView({ vmi, grant: claimed, word: { ...word, settled: "runs" } }),
  );
  expect(settled.migrationState).toMatchObject({
    ...{ failed: true, completed: true, abortStatus: "Succeeded" },
    ...{ endTimestamp: "1970-01-01T00:00:02Z", failureReason: "aborted: an abort was requested" },
  });
  expect(settled.owns).toBe(false);
});

test("the VMI shows the progress, at most every few seconds, and only while the guest moves", () => {
  const key = config.names.own(migrationTransferAnnotation);
  const progress = { mode: "PreCopy", total: 100, remaining: 40, bytesPerSecond: 7.4 };
  const word = report({ progress: progress as NonNullable<MigrationReport["progress"]> });
  const noting = (vmi: SourceView["vmi"], now: number, said: SourceView["word"] = word) =>
    planSourceDuty(sourceView({ vmi, now, word: said })).transfer;
  const first = noting(movingVmi(listening), 10_000);
  expect(readMigrationTransfer(first)).toEqual({
    ...{ migrationUID: "m-1", total: 100, remaining: 40, bytesPerSecond: 7, at: 10_000 },
  });
  const noted = withTransferNote(movingVmi(listening), first ?? "", config.names);
  expect(noted.metadata?.annotations?.[key]).toBe(first);
  expect(noting(noted, 12_000)).toBeUndefined();
  expect(noting(noted, 15_000)).toMatch(/"at":15000/);
  expect(noting(noted, 15_000, { ...word, settled: "runs" })).toBeUndefined();
  expect(noting(movingVmi(listening), 15_000, "unbegun")).toBeUndefined();
});

test("a moving guest belongs to the migration, whatever the VMI says, until the grant has a holder again", () => {
  const gone = movingVmi({ completed: true, endTimestamp: "2026-01-01T00:00:00Z" });
  expect(planSourceDuty(sourceView({ vmi: gone })).owns).toBe(true);
  expect(planSourceDuty(sourceView({ grant: claimed })).owns).toBe(false);
  expect(planSourceDuty(sourceView({ grant: claimed, word: report() })).owns).toBe(true);
});

test("after a launcher's end, nothing is reported about its guest before the target has reported that it has none", () => {
  const dead = { hasEnded: true, word: undefined } as const;
  expect(planSourceDuty(sourceView(dead)).owns).toBe(true);
  const over = movingVmi({ ...listening, completed: true, failed: true });
  expect(planSourceDuty(sourceView({ ...dead, vmi: over })).owns).toBe(false);
});

test("asks the launcher about the migration named by the grant, or else by the VMI", () => {
  const { vmi, holder } = sourceView();
  expect(movingUid({ vmi, grant: { ...handingOver, migrationUID: "m-0" }, holder }, "node-a")).toBe(
    "m-0",
  );
  expect(movingUid({ vmi, grant: claimed, holder }, "node-a")).toBe("m-1");
  expect(movingUid({ vmi, grant: claimed, holder }, "node-b")).toBeUndefined();
});

test("a guest that came back to a launcher which has ended since: the source says that the migration is over", () => {
  const ended = { grant: claimed, hasEnded: true, word: undefined };
  expect(planSourceDuty(sourceView(ended)).migrationState).toMatchObject({
    ...{ failed: true, completed: true, failureReason: "the source's launcher has ended" },
  });
  expect(planSourceDuty(sourceView(ended)).events).toMatchObject([
    { type: "Warning", message: "migration m-1 failed: the source's launcher has ended" },
  ]);
  expect(planSourceDuty(sourceView({ ...ended, hasEnded: false })).migrationState).toBeUndefined();
  const elsewhere = { ...claimed, holder: to };
  expect(planSourceDuty(sourceView({ ...ended, grant: elsewhere })).migrationState).toBeUndefined();
});
