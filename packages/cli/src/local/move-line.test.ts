import { expect, test } from "vitest";
import { diskLines, MoveDisplay, moveLine } from "./move-line.ts";

const progress: Parameters<typeof moveLine>[0] = {
  ...{ phase: "memory", mode: "PreCopy", elapsedMs: 2_000, total: 200e6, transferred: 150e6 },
  ...{ remaining: 50e6, bytesPerSecond: 80e6, momentaryBytesPerSecond: 80e6 },
  ...{ dirtyBytesPerSecond: 0, iteration: 2, remainingAtStart: 60e6, throttlePercent: 0 },
  ...{ isStale: false, expectedEndMs: 3_500 },
};

test("shows a move as bar, rate, what remains and when it ends", () => {
  expect(moveLine(progress)).toBe(
    "[##################......]  75 %  copying memory, 80.0 MB/s, 50.0 MB left, about 1.5 s to go, round 2",
  );
});

test("leaves out what is unknown, and a bar stays within its bounds", () => {
  const { expectedEndMs: _, ...rest } = progress;
  const odd = { ...rest, total: 0, remaining: -5, iteration: 0, phase: "setup" as const };
  expect(moveLine(odd)).toMatch(/^\[\.{24}\] {3}0 % {2}connecting/);
  expect(moveLine({ ...rest, remaining: 500e6 })).toMatch(/^\[\.{24}\]/);
});

test("each copied disk has its own part", () => {
  const disks = [{ target: "vda", total: 100e6, remaining: 25e6 }];
  expect(diskLines({ ...progress, disks })).toEqual(["  vda: 75 % of 100 MB"]);
});

test("a terminal has one line that is overwritten; a log has one per second, and one per phase", () => {
  const written: string[] = [];
  const terminal = new MoveDisplay((text) => written.push(text), true);
  for (const elapsedMs of [0, 400]) terminal.show({ progress: { ...progress, elapsedMs } });
  terminal.end();
  terminal.end();
  expect(written.map((text) => text.startsWith("\r\u001b[K["))).toEqual([true, true, false]);
  expect(written.at(-1)).toBe("\n");
  const lines: string[] = [];
  const log = new MoveDisplay((text) => lines.push(text), false);
  for (const elapsedMs of [0, 400, 800, 1_200]) log.show({ progress: { ...progress, elapsedMs } });
  log.show({ progress: { ...progress, elapsedMs: 1_300, phase: "paused" } });
  expect(lines).toHaveLength(3);
  expect(lines.every((line) => line.endsWith("\n") && !line.includes("\r"))).toBe(true);
});
