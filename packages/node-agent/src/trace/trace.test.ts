import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { handoffs } from "@virtkit/api/timeline";
import { expect, onTestFinished, test } from "vitest";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { readTrace, removeTrace, Trace } from "./trace.ts";

const uid = "5d0c6f1e-0001-4000-8000-000000000001";

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "virtkit-trace-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

test("notes are read back in order, also after a restart", () => {
  const state = directory();
  const now = () => new Date("2030-01-02T03:04:05Z");
  const trace = new Trace(state, uid, now);
  trace.note({ stage: "launcher-ready", state: "waiting", message: "no socket" });
  trace.note({ stage: "launcher-ready", state: "waiting", message: "no socket" });
  trace.note({ stage: "launcher-ready" });
  new Trace(state, uid, now).note({ stage: "launcher-ready" });
  new Trace(state, uid, now).note({ stage: "network-bound", at: "2030-01-02T03:04:06.000Z" });
  const at = "2030-01-02T03:04:05.000Z";
  expect(readTrace(state, uid)).toEqual([
    { stage: "launcher-ready", at, state: "waiting", message: "no socket" },
    { stage: "launcher-ready", at, state: "done" },
    { stage: "network-bound", at: "2030-01-02T03:04:06.000Z", state: "done" },
  ]);
});

test("the timeline reads a trace", () => {
  const state = directory();
  new Trace(state, uid).note({ stage: "network-bound", state: "failed", message: "no eth0" });
  const list = handoffs({ vmi: sampleVmi(), trace: readTrace(state, uid) });
  expect(list.find(({ stage }) => stage === "network-bound")).toMatchObject({
    state: "failed",
    reason: expect.stringContaining("no eth0"),
  });
});

test("skips a truncated line and one that is not an entry", () => {
  const state = directory();
  const trace = new Trace(state, uid);
  trace.note({ stage: "scheduled" });
  appendFileSync(join(state, "traces", `${uid}.jsonl`), '\n{"stage":"guest-run');
  new Trace(state, uid).note({ stage: "guest-running" });
  appendFileSync(
    join(state, "traces", `${uid}.jsonl`),
    '\n{"stage":"none","at":"","state":"done"}',
  );
  expect(readTrace(state, uid).map(({ stage }) => stage)).toEqual(["scheduled", "guest-running"]);
});

test("a trace does not grow forever, and goes when it is removed", () => {
  const state = directory();
  const trace = new Trace(state, uid);
  writeFileSync(join(state, "traces", `${uid}.jsonl`), "x".repeat(1024 * 1024 + 1));
  trace.note({ stage: "scheduled" });
  expect(readTrace(state, uid)).toEqual([]);
  removeTrace(state, uid);
  removeTrace(state, uid);
  expect(readTrace(state, uid)).toEqual([]);
});

test.each(["", "../x", "a/b", "x".repeat(65), 7 as never])(
  "%j is not the UID of a trace",
  (wrong) => {
    expect(() => readTrace("/nowhere", wrong)).toThrow(
      expect.objectContaining({ code: "AGENT_ARGUMENT" }),
    );
  },
);
