import * as fs from "node:fs";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SettleRequest } from "@virtkit/api/grant";
import type { FileCalls } from "@virtkit/host-primitives/durable";
import { writeDurably } from "@virtkit/host-primitives/durable";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DecisionFile } from "./decision-file.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "virtkit-decision-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const migrationUID = "m-1";
const start = { migrationUID, vmiUID: "vmi-1", epoch: 1, seq: 3, paused: false };
const released = { outcome: "released", migrationUID, perform: "ok", finish: "ok" } as const;
const aborted = { outcome: "aborted", migrationUID, sourceRuns: false } as const;
const committed = { outcome: "committed", migrationUID } as const;
const returned = { outcome: "returned", migrationUID, neverSwitched: true } as const;

/** As a launcher finds it in its next life. */
const file = (files?: FileCalls): DecisionFile => new DecisionFile(directory, migrationUID, files);

function outcomeOf(decide: () => unknown): string {
  try {
    decide();
    return "ok";
  } catch (error) {
    return (error as { path?: string }).path ?? String(error);
  }
}

test("after a restart, knows what was known before begin, and that nothing is decided", () => {
  file().begin({ ...start, paused: true });
  expect(file().start()).toEqual({ ...start, paused: true });
  expect(file().read()).toEqual({ migrationUID });
  expect(file().decision()).toBeUndefined();
});

test("an empty folder is not a decision, and permits only a running source to go back", () => {
  expect(file().read()).toBeUndefined();
  for (const request of [released, aborted, committed, returned]) {
    expect(outcomeOf(() => file().settle(request))).toBe("begun-here");
  }
  file().settle({ ...aborted, sourceRuns: true });
  expect(file().decision()).toEqual({ migrationUID, outcome: "aborted" });
});

test("a migration begins once, so what an earlier process began is not finished", () => {
  file().begin(start);
  expect(outcomeOf(() => file().begin(start))).toBe("begun-here");
});

const cases: readonly (readonly [string, readonly SettleRequest[], readonly string[]])[] = [
  ["released stands", [released, released, aborted], ["ok", "ok", "first-decision"]],
  ["aborted stands", [aborted, released, committed], ["ok", "first-decision", "first-decision"]],
  ["a commit may end as a release", [committed, aborted, released], ["ok", "first-decision", "ok"]],
  ["a commit may go back", [committed, returned, released], ["ok", "ok", "first-decision"]],
  ["no answer to perform", [{ ...released, perform: "none" }], ["perform-answered"]],
  ["no answer to finish", [{ ...released, finish: "failed" }], ["finish-answered"]],
  [
    "post-copy was entered",
    [committed, { ...returned, neverSwitched: false }],
    ["ok", "never-switched"],
  ],
];
test.each(cases)("%s", (_, requests, expected) => {
  file().begin(start);
  expect(requests.map((request) => outcomeOf(() => file().settle(request)))).toEqual(expected);
});

test.each([
  "",
  "{",
  "[]",
  '{"version":2}',
  '{"version":1,"migrationUID":"m-2","outcome":"aborted"}',
])("an unreadable decision is not the same as no decision: %j", (text) => {
  file().begin(start);
  file().settle(aborted);
  writeFileSync(join(directory, migrationUID, "decision.1.json"), text);
  const unreadable = expect.objectContaining({ code: "MIGRATION_DECISION_INVALID" });
  expect(() => file().read()).toThrow(unreadable);
  expect(() => file().settle(released)).toThrow(unreadable);
});

test.each(["../m", "", ".", "a/b", "x".repeat(65)])("%j is not the UID of a migration", (uid) => {
  expect(() => new DecisionFile(directory, uid)).toThrow(
    expect.objectContaining({ code: "MIGRATION_INPUT_INVALID" }),
  );
});

type Settle = (files: FileCalls | undefined, request: SettleRequest) => void;

/** Each file call of one writer is held up once while the other one decides the opposite. */
function firstDisagreement(settle: Settle, mine: SettleRequest, others: SettleRequest): unknown {
  for (let at = 0; ; at++) {
    rmSync(join(directory, migrationUID), { recursive: true, force: true });
    file().begin(start);
    let call = 0;
    let other = "never";
    const interrupting = new Proxy(realFiles, {
      get: (target, name: keyof FileCalls) => {
        const act = target[name] as (...args: unknown[]) => unknown;
        return (...args: unknown[]) => {
          if (call++ === at) other = outcomeOf(() => settle(undefined, others));
          return act(...args);
        };
      },
    });
    const own = outcomeOf(() => settle(interrupting, mine));
    if (other === "never") return undefined;
    const won = own === "ok" ? mine.outcome : others.outcome;
    const isOne = (own === "ok") !== (other === "ok");
    if (!isOne || file().read()?.outcome !== won) return { at, own, other, disk: file().read() };
  }
}

const realFiles: FileCalls = {
  mkdir: (path) => fs.mkdirSync(path, { recursive: true }),
  open: (path, flags) => fs.openSync(path, flags),
  write: (fd, bytes) => fs.writeSync(fd, bytes),
  sync: fs.fsyncSync,
  close: fs.closeSync,
  rename: fs.renameSync,
  link: fs.linkSync,
  unlink: fs.unlinkSync,
  read: (path) => readFileSync(path, "utf8"),
};

const pairs: readonly (readonly [SettleRequest, SettleRequest])[] = [
  [released, aborted],
  [aborted, released],
  [committed, aborted],
];

test.each(pairs)("two writers at once agree on one decision: %o against %o", (mine, others) => {
  const careful: Settle = (files, request) => file(files).settle(request);
  expect(firstDisagreement(careful, mine, others)).toBeUndefined();
  const left = readdirSync(join(directory, migrationUID));
  expect(left.filter((name) => !/^(begun|decision)\.\d\.json$/.test(name))).toEqual([]);
});

test("control: a writer that checks and then writes loses to the same attack", () => {
  const path = join(directory, migrationUID, "decision.1.json");
  const naive: Settle = (files, { outcome }) => {
    if (existsSync(path)) throw Object.assign(new Error("decided"), { path: "first-decision" });
    writeDurably(path, JSON.stringify({ version: 1, migrationUID, outcome }), files);
  };
  expect(firstDisagreement(naive, released, aborted)).toBeDefined();
});
