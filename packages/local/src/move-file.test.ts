import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MoveFile, type VmiMove } from "./move-file.ts";

const uid = (digit: number): string => `${digit}`.repeat(8).concat("-0000-4000-8000-000000000000");
const mover = (pid: number): VmiMove["mover"] => ({
  ...{ pid, startTime: "1", bootId: "0d4c4a52-0001-4000-8000-000000000001" },
});
const move: VmiMove = {
  ...{ migrationUID: uid(1), source: uid(2), target: uid(3), mover: mover(10) },
  startedAt: "2026-01-01T00:00:00Z",
};

function made(): { readonly file: MoveFile; readonly directory: string } {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-moves-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return { directory, file: new MoveFile(directory, { namespace: "default", name: "demo" }) };
}

test("allows one move of a VMI at a time, until it is removed", () => {
  const { file } = made();
  expect(file.read()).toBeUndefined();
  expect(file.begin(move)).toBe(true);
  expect(file.begin({ ...move, migrationUID: uid(4) })).toBe(false);
  expect(file.read()).toEqual(move);
  file.remove();
  file.remove();
  expect(file.read()).toBeUndefined();
});

test("one of two wins when both take over a move, and a late one sees the new mover", () => {
  const { file } = made();
  file.begin(move);
  expect(file.takeOver(move, mover(11))).toEqual({ ...move, mover: mover(11) });
  expect(file.takeOver(move, mover(12))).toBeUndefined();
  expect(file.read()?.mover.pid).toBe(11);
});

test("a garbled file does not count as no move", () => {
  const { file, directory } = made();
  const folder = join(directory, "moves/default_demo");
  mkdirSync(folder, { recursive: true });
  for (const text of ["", "{", JSON.stringify({ version: 1, ...move, target: "../x" })]) {
    writeFileSync(join(folder, "1.json"), text);
    expect(() => file.read()).toThrow(/cannot be read.*virtkit rm --now demo/);
    expect(file.begin(move)).toBe(false);
  }
});
