import type { Decision, Holder, Outcome, ProofOfEnd } from "@virtkit/api/grant";
import type { MigrationIdentity } from "@virtkit/migration/handover";
import type { MigrationProgress } from "@virtkit/migration/source";
import {
  anyNumber,
  type Check,
  fields,
  flag,
  list,
  record,
  text,
  whole,
  word,
} from "../channel/check.ts";
import type {
  GuestMeasure,
  MigrateRequest,
  MigrationReport,
  MigrationVerbs,
  ReceiveRequest,
} from "./migration-verbs.ts";

const uid = text(64);
/** A socket's path has at most 107 bytes. */
const socketPath = text(107);
const count = whole(0, Number.MAX_SAFE_INTEGER);
const outcomes: readonly Outcome[] = ["released", "aborted", "committed", "returned"];

const migration: Check<MigrationIdentity> = fields({
  migrationUID: uid,
  vmiUID: uid,
  epoch: count,
  seq: count,
});

const name = text(253);
const holder: Check<Holder> = fields({
  podUID: name,
  containerID: name,
  node: name,
  machineID: name,
  bootID: name,
  nonce: name,
});

// The plan checks what is in a VMI and its options; here it only matters that they are objects.
const some = record as Check<unknown>;
const uri = text(253);
/** A launcher has some twenty steps, a guest some hundred disks. */
const mostAmounts = 1_024;

const amounts: Check<Readonly<Record<string, number>>> = (value, path) => {
  const entries = Object.entries(record(value, path)).slice(0, mostAmounts);
  return Object.fromEntries(
    entries.map(([key, amount]) => [key.slice(0, 253), anyNumber(amount, `${path}.${key}`)]),
  );
};

export const checkMigrate: Check<MigrateRequest> = fields(
  {
    migration,
    holder,
    vmi: some as Check<MigrateRequest["vmi"]>,
    options: some as Check<MigrateRequest["options"]>,
    peer: socketPath,
    serve: socketPath,
  },
  { tls: fields({ destination: name }), uris: fields({ memory: uri, disks: uri }) },
);

export const checkReceive: Check<ReceiveRequest> = fields(
  {
    migration,
    holder,
    domain: uid,
    guest: fields(
      {
        vmi: some as Check<ReceiveRequest["guest"]["vmi"]>,
        context: some as Check<ReceiveRequest["guest"]["context"]>,
      },
      { pod: some as Check<NonNullable<ReceiveRequest["guest"]["pod"]>> },
    ),
    listen: uri,
    peer: socketPath,
    serve: socketPath,
  },
  { listenDisks: uri, sizes: amounts, encrypted: flag },
);

export const checkMeasure: Check<{
  readonly vmi: MigrateRequest["vmi"];
  readonly seconds: number;
}> = fields({ vmi: some as Check<MigrateRequest["vmi"]>, seconds: whole(1, 60) });

export const checkMeasured: Check<GuestMeasure> = fields(
  { memoryBytes: anyNumber, usedBytes: anyNumber, diskBytes: anyNumber },
  { dirtyBytesPerSecond: anyNumber },
);

export const checkNamed: Check<{ readonly migrationUID: string }> = fields({ migrationUID: uid });

export const checkCancel: Check<{ readonly migrationUID: string; readonly reason?: string }> =
  fields({ migrationUID: uid }, { reason: text(1_024) });

export const checkFollow: Check<{ readonly migrationUID: string; readonly after?: number }> =
  fields({ migrationUID: uid }, { after: count });

export const checkIdentified: Check<{ readonly migration: MigrationIdentity }> = fields({
  migration,
});

const proofKinds: readonly ProofOfEnd["kind"][] = [
  ...(["containerTerminated", "processGone", "bootChanged", "fenced", "leaseTaken"] as const),
];

/** Evidence of a kind that a newer agent knows proves nothing here. */
const proofs: Check<readonly ProofOfEnd[]> = (value, path) =>
  list(record, 64)(value, path)
    .filter(({ kind }) => proofKinds.some((each) => each === kind))
    .map((each, index) => proof(each, `${path}[${index}]`));

const proof = fields(
  { kind: word(proofKinds) },
  {
    ...{ containerID: name, reason: name, bootID: name, machineID: name },
    ...{ seen: name, by: name, nodeReady: flag },
  },
) as Check<ProofOfEnd>;

export const checkGrantNote: Check<Parameters<MigrationVerbs["noteGrant"]>[0]> = fields(
  { migrationUID: uid, grant: text(8_192) },
  { proofs },
);

export const checkDecision: Check<Partial<Decision>> = fields(
  {},
  { migrationUID: uid, outcome: word(outcomes) },
);

const progress: Check<MigrationProgress> = fields(
  {
    phase: word(["setup", "disks", "memory", "paused", "postcopy"]),
    mode: word(["PreCopy", "PostCopy", "Paused"]),
    ...{ elapsedMs: anyNumber, total: anyNumber, transferred: anyNumber, remaining: anyNumber },
    ...{ bytesPerSecond: anyNumber, momentaryBytesPerSecond: anyNumber },
    ...{ dirtyBytesPerSecond: anyNumber, iteration: anyNumber, remainingAtStart: anyNumber },
    ...{ throttlePercent: anyNumber, isStale: flag },
  },
  {
    disks: list(fields({ target: text(64), total: anyNumber, remaining: anyNumber }), 1_024),
    expectedDowntimeMs: anyNumber,
    expectedEndMs: anyNumber,
  },
);

export const checkReport: Check<MigrationReport> = fields(
  {
    migrationUID: uid,
    role: word(["source", "target"]),
    revision: count,
    step: text(64),
  },
  {
    times: amounts,
    stoodStillMs: anyNumber,
    progress,
    decision: word(outcomes),
    asksGrant: flag,
    claims: word(["released", "postCopyComplete", "claimed"]),
    outcome: text(64),
    settled: text(64),
    why: text(16_384),
  },
);
