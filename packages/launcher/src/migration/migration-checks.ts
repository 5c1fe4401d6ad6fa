import type { Decision, Holder, Outcome } from "@virtkit/api/grant";
import type { MigrationIdentity } from "@virtkit/migration/handover";
import { type Check, dictionary, fields, flag, list, text, whole, word } from "../channel/check.ts";
import type { MigrateRequest, MigrationReport, ReceiveRequest } from "./migration-verbs.ts";

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

const textOrNumber: Check<string | number> = (value, path) =>
  typeof value === "number"
    ? whole(0, Number.MAX_SAFE_INTEGER)(value, path)
    : text(4_096)(value, path);

export const checkMigrate: Check<MigrateRequest> = fields({
  migration,
  holder,
  flags: list(text(64), 32),
  params: dictionary(textOrNumber),
  peer: socketPath,
  serve: socketPath,
});

export const checkReceive: Check<ReceiveRequest> = fields({
  migration,
  holder,
  domain: uid,
  listen: text(253),
  peer: socketPath,
  serve: socketPath,
});

export const checkNamed: Check<{ readonly migrationUID: string }> = fields({ migrationUID: uid });

export const checkCancel: Check<{ readonly migrationUID: string; readonly reason?: string }> =
  fields({ migrationUID: uid }, { reason: text(1_024) });

export const checkFollow: Check<{ readonly migrationUID: string; readonly after?: number }> =
  fields({ migrationUID: uid }, { after: count });

export const checkIdentified: Check<{ readonly migration: MigrationIdentity }> = fields({
  migration,
});

export const checkGrantNote: Check<{ readonly migrationUID: string; readonly grant: string }> =
  fields({ migrationUID: uid, grant: text(8_192) });

export const checkDecision: Check<Partial<Decision>> = fields(
  {},
  { migrationUID: uid, outcome: word(outcomes) },
);

export const checkReport: Check<MigrationReport> = fields(
  {
    migrationUID: uid,
    role: word(["source", "target"]),
    revision: count,
    step: text(64),
  },
  {
    decision: word(outcomes),
    asksGrant: flag,
    claims: word(["released", "postCopyComplete", "claimed"]),
    outcome: text(64),
    settled: text(64),
    why: text(16_384),
  },
);
