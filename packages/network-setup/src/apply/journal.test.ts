import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { planBinding } from "../plan/plan-binding.ts";
import { podNic, sampleVmi } from "../testing/sample-pod.ts";
import { type JournalEntry, openJournal } from "./journal.ts";

const directory = mkdtempSync(join(tmpdir(), "virtkit-journal-"));
afterAll(() => rmSync(directory, { recursive: true }));

const nics = [podNic()];
const plan = planBinding(sampleVmi([{ name: "default", bridge: {} }]), nics);
const entry: JournalEntry = { state: "applying", found: { nics, settings: {} }, plan };

test("reads back what was written, by Pod, and can remove it", () => {
  const [one, two] = [openJournal(directory, "one"), openJournal(directory, "two")];
  expect(one.read()).toEqual([]);
  one.write([entry]);
  expect(openJournal(directory, "one").read()).toEqual(JSON.parse(JSON.stringify([entry])));
  expect(two.read()).toEqual([]);
  one.remove();
  one.remove();
  expect(one.read()).toEqual([]);
  expect(readdirSync(directory)).toEqual([]);
});

test("ignores a write that was cut short", () => {
  const journal = openJournal(directory, "cut");
  journal.write([entry]);
  writeFileSync(join(directory, "cut.json.new"), '{"version":1,"ent');
  expect(journal.read()).toHaveLength(1);
});

test.each(["{", "[]", '{"version":2,"entries":[]}', '{"version":1}'])(
  "leaves a file with %j for people to inspect",
  (text) => {
    writeFileSync(join(directory, "bad.json"), text);
    expect(() => openJournal(directory, "bad").read()).toThrow(/by hand/);
  },
);

test.each(["", "../x", "a/b", "x".repeat(65)])("rejects %j as a UID", (uid) => {
  expect(() => openJournal(directory, uid)).toThrow(/not a UID/);
});
