import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MountJournal, planRecovery } from "./mount-journal.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "virtkit-journal-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const file = (): string => join(directory, "mounts.journal");

/** What a new agent finds after its predecessor was killed at this moment. */
function afterCrash(): readonly (readonly [string, string])[] {
  using journal = new MountJournal(directory);
  return journal.records().map(({ id, state }) => [id, state] as const);
}

test("each step is on disk when its function returns", () => {
  using journal = new MountJournal(directory);
  journal.beginMount("u1", { target: "disk0" });
  expect(afterCrash()).toEqual([["u1", "mounting"]]);
});

test("a mount is followed through its life", () => {
  using journal = new MountJournal(directory);
  journal.beginMount("u1", { target: "disk0" });
  journal.finishMount("u1");
  expect(journal.records()).toEqual([{ id: "u1", state: "mounted", details: { target: "disk0" } }]);
  journal.beginUnmount("u1");
  expect(journal.records()[0]?.state).toBe("unmounting");
  journal.forget("u1");
  expect(journal.records()).toEqual([]);
  journal.close();
  expect(afterCrash()).toEqual([]);
});

test("a line that a crash cut short is a step that was never begun", () => {
  using journal = new MountJournal(directory);
  journal.beginMount("u1", null);
  journal.close();
  appendFileSync(file(), '{"v":1,"id":"u2","state":"mou');
  expect(afterCrash()).toEqual([["u1", "mounting"]]);
});

test.each([
  "garbage\n",
  '{"v":2,"id":"a","state":"mounted"}\n',
  '{"v":1,"id":7,"state":"mounted"}\n',
  '{"v":1,"id":"a","state":"?"}\n',
])("any other damage is refused: %j", (line) => {
  writeFileSync(file(), `${line}{"v":1,"id":"b","state":"gone"}\n`);
  expect(() => new MountJournal(directory)).toThrow(
    expect.objectContaining({ code: "HOST_JOURNAL_CORRUPT", path: `${file()}:1` }),
  );
  expect(readFileSync(file(), "utf8")).toContain(line);
});

test("the file stays small however often something is mounted", () => {
  using journal = new MountJournal(directory);
  for (let round = 0; round < 60; round++) {
    journal.beginMount("u1", { round });
    journal.finishMount("u1");
    journal.forget("u1");
  }
  expect(readFileSync(file(), "utf8").split("\n").length).toBeLessThan(100);
});

test("steps of a mount that was never begun, or after the end, are refused", () => {
  const journal = new MountJournal(directory);
  expect(() => journal.finishMount("u1")).toThrow(expect.objectContaining({ path: "id" }));
  journal.forget("u1");
  journal.close();
  expect(() => journal.beginMount("u1", null)).toThrow(
    expect.objectContaining({ code: "HOST_CLOSED" }),
  );
});

test.each([
  ["mounting", true, "confirm"],
  ["mounting", false, "retry"],
  ["mounted", true, "confirm"],
  ["mounted", false, "forget"],
  ["unmounting", true, "unmount"],
  ["unmounting", false, "forget"],
] as const)(
  "after a restart a mount that was %s and is there: %s is to %s",
  (state, there, action) => {
    const record = { id: "u1", state, details: null };
    expect(planRecovery([record], () => there)).toEqual([{ action, record }]);
  },
);
