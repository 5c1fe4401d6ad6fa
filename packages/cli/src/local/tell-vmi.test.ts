import type { VmiRecord, VmiState } from "@virtkit/local";
import { expect, test } from "vitest";
import { storyText } from "./tell-vmi.ts";

const record = {
  namespace: "default",
  name: "demo",
  createdAt: "2026-01-01T00:00:00.000Z",
} as VmiRecord;
const at = "2026-01-01T00:01:00.000Z";

function told(now: VmiState): string {
  const reason = "it\u001b[2J is slow";
  const waiting = { stage: "ready", state: "waiting", by: "guest", reason } as const;
  return storyText({ record, now, grant: "nobody may run it", trace: [], handoffs: [waiting] });
}

test.each(["PoweredOff", "Stopped", "Killed", "Crashed", "Failed"] as const)(
  "for a VMI that is %s it says why, when and what to do, and nothing that needs a guest",
  (kind) => {
    const text = told({ state: kind, end: { kind, message: "it\u001b[2J ended", at } });
    expect(text).toContain(`demo: ${kind}\n  it [2J ended (${at})\n`);
    expect(text).toMatch(
      /Next: .*"virtkit run -f FILE" starts it again, "virtkit rm demo" removes it/,
    );
    expect(text).not.toMatch(/waits for|virtkit console/);
  },
);

test("for one that has not ended it says what it waits for", () => {
  expect(told({ state: "Running" })).toMatch(
    /waits for ready: it \[2J is slow\n[\s\S]*virtkit console demo/,
  );
  expect(told({ state: "Starting" })).toContain("virtkit rm --now demo");
  expect(told({ state: "Unknown" })).toContain("virtkit stop --now demo");
});

test("for one whose move is in a broken post-copy it says why, and what to do", () => {
  const move = { mover: { pid: 7 }, startedAt: at } as VmiRecord["move"];
  const story = { now: { state: "Running" }, grant: "", trace: [], handoffs: [] } as const;
  const moving = { ...record, ...(move && { move }) };
  const text = storyText({ ...story, record: moving, brokenMove: "the target\nis silent" });
  expect(text).toMatch(
    /moving it since .*\n {2}its post-copy is broken: the source reports: the target is silent; .*"virtkit rm --now demo" ends both/,
  );
  expect(storyText({ ...story, record: moving })).not.toContain("broken");
});
