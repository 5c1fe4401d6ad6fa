import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { StepJournal } from "./step-journal.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "virtkit-journal-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const file = (): string => join(directory, "steps.journal");

/** What a new agent finds after its predecessor was killed at this moment. */
function afterCrash(): readonly (readonly [string, string])[] {
  using journal = new StepJournal(file());
  return journal.records().map(({ id, state }) => [id, state] as const);
}

test("each step is on disk when its function returns", () => {
  using journal = new StepJournal(file());
  journal.begin("u1", { target: "disk0" });
  expect(afterCrash()).toEqual([["u1", "doing"]]);
});

test("follows a step through its life", () => {
  using journal = new StepJournal(file());
  journal.begin("u1", { target: "disk0" });
  journal.finish("u1");
  expect(journal.records()).toEqual([{ id: "u1", state: "done", details: { target: "disk0" } }]);
  journal.beginUndo("u1");
  expect(journal.records()[0]?.state).toBe("undoing");
  journal.forget("u1");
  expect(journal.records()).toEqual([]);
  journal.close();
  expect(afterCrash()).toEqual([]);
});

test("ignores a line that a crash cut short: its step never began", () => {
  using journal = new StepJournal(file());
  journal.begin("u1", null);
  journal.close();
  appendFileSync(file(), '{"v":1,"id":"u2","state":"doi');
  expect(afterCrash()).toEqual([["u1", "doing"]]);
});

test.each([
  "garbage\n",
  '{"v":2,"id":"a","state":"done"}\n',
  '{"v":1,"id":7,"state":"done"}\n',
  '{"v":1,"id":"a","state":"?"}\n',
])("rejects any other damage: %j", (line) => {
  writeFileSync(file(), `${line}{"v":1,"id":"b","state":"gone"}\n`);
  expect(() => new StepJournal(file())).toThrow(
    expect.objectContaining({ code: "HOST_JOURNAL_CORRUPT", path: `${file()}:1` }),
  );
  expect(readFileSync(file(), "utf8")).toContain(line);
});

test("the file stays small, however often a step is done and undone", () => {
  using journal = new StepJournal(file());
  for (let round = 0; round < 60; round++) {
    journal.begin("u1", { round });
    journal.finish("u1");
    journal.forget("u1");
  }
  expect(readFileSync(file(), "utf8").split("\n").length).toBeLessThan(100);
});

test("rejects changes to a step that never began, and changes after close", () => {
  const journal = new StepJournal(file());
  expect(() => journal.finish("u1")).toThrow(expect.objectContaining({ path: "id" }));
  journal.forget("u1");
  journal.close();
  expect(() => journal.begin("u1", null)).toThrow(expect.objectContaining({ code: "HOST_CLOSED" }));
});
