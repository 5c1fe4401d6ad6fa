import { expect, test } from "vitest";
import { Crash, CrashingFiles } from "../testing/crashing-files.ts";
import type { FileCalls } from "./file-calls.ts";
import { StepJournal } from "./step-journal.ts";
import { createDurably, removeDurably, writeDurably, writeWhole } from "./write-durably.ts";

const path = "/state/pods/one/record.json";

/** What is there after a crash at every call, in every state that the disk may be in. */
function* crashes<T>(
  prepare: (files: FileCalls) => void,
  act: (files: FileCalls) => void,
  look: (files: CrashingFiles) => T,
): Generator<{ readonly at: number; readonly returned: boolean; readonly found: T }> {
  for (let at = 0, returned = false; !returned; at++) {
    const before = new CrashingFiles();
    prepare(before);
    for (const start of before.afterCrash()) {
      const files = start.crashingAt(at);
      returned = runs(() => act(files));
      for (const disk of files.afterCrash()) yield { at, returned, found: look(disk) };
    }
  }
}

function runs(act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (error instanceof Crash || (error as Error).cause instanceof Crash) return false;
    throw error;
  }
}

function content(files: FileCalls): string | undefined {
  try {
    return files.read(path);
  } catch {
    return undefined;
  }
}

/**
 * The first state that is neither the old nor the new one, or that is the old one although the call
 * has returned.
 */
function firstLoss(
  prepare: (files: FileCalls) => void,
  act: (files: FileCalls) => void,
  [old, fresh]: readonly (string | undefined)[],
): unknown {
  for (const crash of crashes(prepare, act, content)) {
    const isFresh = crash.found === fresh;
    if (!isFresh && (crash.returned || crash.found !== old)) return crash;
  }
  return undefined;
}

const nothing = (): void => undefined;
const oldText = "the old record, which is longer than one write";
const newText = "the new record, which is longer than one write too";
const oldThere = (files: FileCalls): void => writeDurably(path, oldText, files);

type Write = (files: FileCalls) => void;

const write: Write = (files) => writeDurably(path, newText, files);
const create: Write = (files) => {
  createDurably(path, newText, files);
};
const remove: Write = (files) => removeDurably(path, files);

test.each([
  ["a first write", nothing, write, [undefined, newText]],
  ["a write over an existing file", oldThere, write, [oldText, newText]],
  ["a creation", nothing, create, [undefined, newText]],
  ["a creation where the name is taken", oldThere, create, [oldText, oldText]],
  ["a removal", oldThere, remove, [oldText, undefined]],
  ["a removal of a missing file", nothing, remove, [undefined, undefined]],
] as const)(
  "%s leaves the old or the new content, at whatever call it is interrupted",
  (_, prepare, act, texts) => {
    expect(firstLoss(prepare, act, texts)).toBeUndefined();
  },
);

/** Like the durable write, with one step left out. */
function naive(leftOut: "whole" | "sync" | "rename" | "directory sync" | "parents' sync"): Write {
  return (files) => {
    files.mkdir("/state/pods/one");
    for (const above of leftOut === "parents' sync" ? [] : ["/", "/state", "/state/pods"]) {
      syncAt(above, files);
    }
    const fresh = leftOut === "rename" ? path : `${path}.new`;
    const fd = files.open(fresh, "w");
    if (leftOut === "whole") files.write(fd, Buffer.from(newText));
    else writeWhole(fd, newText, files);
    if (leftOut !== "sync") files.sync(fd);
    files.close(fd);
    if (leftOut !== "rename") files.rename(fresh, path);
    if (leftOut !== "directory sync") syncAt("/state/pods/one", files);
  };
}

function syncAt(directory: string, files: FileCalls): void {
  const fd = files.open(directory, "r");
  files.sync(fd);
  files.close(fd);
}

test.each([
  ["whole", oldThere, oldText],
  ["sync", oldThere, oldText],
  ["rename", oldThere, oldText],
  ["directory sync", oldThere, oldText],
  ["parents' sync", nothing, undefined],
] as const)("control: a writer without the %s is caught", (leftOut, prepare, old) => {
  expect(firstLoss(prepare, naive(leftOut), [old, newText])).toBeDefined();
});

test("control: a removal without a sync is caught", () => {
  expect(firstLoss(oldThere, (files) => files.unlink(path), [oldText, undefined])).toBeDefined();
});

test("a crash leaves beside the file only what was being written", () => {
  for (const { found } of crashes(nothing, write, (files) => files.list())) {
    for (const name of found) expect(name.startsWith(path)).toBe(true);
  }
});

/** The whole life of two steps; after each call, what the journal must know. */
const life = [
  (journal: StepJournal) => journal.begin("a", { target: "disk0" }),
  (journal: StepJournal) => journal.finish("a"),
  (journal: StepJournal) => journal.begin("b", null),
  (journal: StepJournal) => journal.beginUndo("a"),
  (journal: StepJournal) => journal.forget("a"),
];

function recordsOf(files: FileCalls): string {
  return JSON.stringify(new StepJournal("/state/steps.journal", files).records());
}

test("a journal knows each step before it begins, at whatever call it is interrupted", () => {
  for (const [index, step] of life.entries()) {
    const prepare = (files: FileCalls): void => {
      using journal = new StepJournal("/state/steps.journal", files);
      for (const done of life.slice(0, index)) done(journal);
    };
    const act = (files: FileCalls): void => {
      const journal = new StepJournal("/state/steps.journal", files);
      step(journal);
    };
    const files = new CrashingFiles();
    prepare(files);
    const before = recordsOf(files);
    act(files);
    const after = recordsOf(files);
    for (const { returned, found } of crashes(prepare, act, recordsOf)) {
      if (returned) expect(found).toBe(after);
      else expect([before, after]).toContain(found);
    }
  }
});

test("a journal that failed to write a line continues with a complete one", () => {
  const files = new CrashingFiles();
  const journal = new StepJournal("/state/steps.journal", files);
  journal.begin("a", null);
  const { write } = files;
  let writes = 0;
  files.write = (fd, bytes) => {
    if (++writes === 2)
      throw Object.assign(new Error("full"), { code: "ENOSPC", syscall: "write" });
    return write.call(files, fd, bytes);
  };
  expect(() => journal.begin("b", null)).toThrow(expect.objectContaining({ errno: "ENOSPC" }));
  journal.begin("c", null);
  const ids = new StepJournal("/state/steps.journal", files).records().map(({ id }) => id);
  expect(ids).toEqual(["a", "c"]);
});
