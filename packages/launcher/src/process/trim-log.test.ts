import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { trimLog } from "./trim-log.ts";

const limits = { mostBytes: 1000, keptBytes: 100 };

function log(flags: string): { file: string; fd: number } {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-trim-"));
  const file = join(directory, "log");
  writeSync(openSync(file, "w"), "");
  const fd = openSync(file, flags);
  onTestFinished(() => {
    closeSync(fd);
    rmSync(directory, { recursive: true, force: true });
  });
  return { file, fd };
}

function write(fd: number, count: number, from = 0): void {
  for (let i = from; i < from + count; i++) writeSync(fd, `line ${i}\n`);
}

test("an endless log stays below its limit, with whole lines up to the newest", () => {
  const { file, fd } = log("a+");
  for (let i = 0; i < 100; i++) {
    write(fd, 50, i * 50);
    trimLog(fd, limits);
    expect(readFileSync(file).length).toBeLessThanOrEqual(limits.mostBytes);
  }
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  expect(lines.at(-1)).toBe("line 4999");
  expect(lines.every((line) => /^line \d+$/.test(line))).toBe(true);
});

test("control: without it the log exceeds the limit", () => {
  const { file, fd } = log("a+");
  write(fd, 5000);
  expect(readFileSync(file).length).toBeGreaterThan(limits.mostBytes);
});

test("another process that appends continues at the new end", () => {
  const { file, fd } = log("a+");
  const other = openSync(file, "a");
  write(other, 200);
  expect(trimLog(fd, limits)).toBe(true);
  writeSync(other, "after\n");
  closeSync(other);
  expect(readFileSync(file, "utf8")).toMatch(/^(line \d+\n)+after\n$/);
});

test.each(["a", "r+"])("leaves alone a file that is open as %s", (flags) => {
  const { file, fd } = log(flags);
  write(fd, 200);
  const before = readFileSync(file);
  expect(trimLog(fd, limits)).toBe(false);
  expect(readFileSync(file)).toEqual(before);
});

test("leaves a small log alone, and what is not a file", () => {
  const { fd } = log("a+");
  write(fd, 10);
  expect(trimLog(fd, limits)).toBe(false);
  const device = openSync("/dev/null", "a+");
  expect(trimLog(device, limits)).toBe(false);
  closeSync(device);
});
