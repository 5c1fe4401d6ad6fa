import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseEndNote, readEndNote, writeEndNote } from "./end-note.ts";
import { localNames } from "./local-names.ts";

const podUid = "7f0c1d52-90a1-4c3e-8d52-0d3b1c5a9e11";
const at = "2026-01-01T00:00:00.000Z";
const killed = { kind: "Killed", message: "QEMU was killed", at } as const;

function folder(): { directory: string; file: string } {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-end-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const names = localNames(directory, podUid);
  mkdirSync(names.directory, { recursive: true });
  return { directory, file: names.terminationMessage };
}

test("reads a launcher's last message", () => {
  const { directory, file } = folder();
  expect(readEndNote(directory, podUid)).toBeUndefined();
  writeFileSync(file, "");
  expect(readEndNote(directory, podUid)).toBeUndefined();
  writeFileSync(file, `It ended.\n${JSON.stringify({ how: "guest-ended", end: killed })}\n`);
  expect(readEndNote(directory, podUid)).toEqual({ how: "guest-ended", end: killed });
});

test("reads our own note like it, and it replaces the launcher's", () => {
  const { directory, file } = folder();
  // Nobody made the file: then there is no launcher either, and nothing to say.
  writeEndNote(directory, podUid, killed);
  expect(readEndNote(directory, podUid)).toBeUndefined();
  writeFileSync(file, "x".repeat(500));
  writeEndNote(directory, podUid, killed);
  expect(readEndNote(directory, podUid)?.end).toEqual(killed);
});

test("limits, checks and sanitizes a hostile launcher's message", () => {
  const { directory, file } = folder();
  const evil = { ...killed, message: "\u001b[2Jgone\nRunning" };
  writeFileSync(file, JSON.stringify({ how: "x", end: evil }));
  expect(readEndNote(directory, podUid)?.end?.message).toBe("[2Jgone Running");
  writeFileSync(file, `${" ".repeat(1 << 20)}\n${JSON.stringify({ how: "x", end: killed })}`);
  expect(readEndNote(directory, podUid)).toBeUndefined();
  rmSync(file);
  symlinkSync("/etc/hostname", file);
  expect(readEndNote(directory, podUid)).toBeUndefined();
});

test.each([
  ["something that is not JSON", "{"],
  ["JSON that is not an object", "7"],
  ["an object that does not say how it ended", "{}"],
])("rejects %s as a note", (_, line) => expect(parseEndNote(line)).toBeUndefined());

test.each([
  ["an unknown kind", { ...killed, kind: "__proto__" }],
  ["no message", { ...killed, message: 7 }],
  ["no time", { ...killed, at: "soon" }],
])("rejects %s as an end", (_, end) =>
  expect(parseEndNote(JSON.stringify({ how: "guest-ended", end }))).toEqual({ how: "guest-ended" }),
);
