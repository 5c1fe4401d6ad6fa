import { expect, test } from "vitest";
import { ProgressLines, timeline } from "./progress-lines.ts";

const start = Date.parse("2026-01-01T00:00:00.000Z");

test("a handoff is a line once it has happened or failed, not while it waits", () => {
  const lines: string[] = [];
  const progress = new ProgressLines(start, (line) => lines.push(line));
  progress.tell({ stage: "admitted", at: "2026-01-01T00:00:00.010Z" });
  progress.tell({ stage: "network-bound", state: "waiting", at: "2026-01-01T00:00:01.000Z" });
  progress.tell({
    stage: "network-bound",
    state: "failed",
    at: "2026-01-01T00:00:02.500Z",
    message: "no\u001b[2J\nTAP",
  });
  expect(lines).toEqual([
    "   0.01 s  admitted         the VMI is accepted and stored",
    "   2.50 s  network-bound    FAILED: no [2J TAP",
  ]);
});

test("a timeline shows how long each handoff took", () => {
  const text = timeline(
    [
      { stage: "guest-running", at: "2026-01-01T00:00:02.000Z" },
      { stage: "admitted", at: "2026-01-01T00:00:00.500Z" },
      { stage: "ready", state: "waiting", at: "2026-01-01T00:00:03.000Z" },
    ],
    start,
  );
  expect(text.split("\n")).toEqual([
    "  admitted            0.50 s    +0.50 s  api-server",
    "  guest-running       2.00 s    +1.50 s  launcher",
  ]);
});
