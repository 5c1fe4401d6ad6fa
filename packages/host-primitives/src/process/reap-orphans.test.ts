import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isZombieOf, nameIn, reapOrphans } from "./reap-orphans.ts";
import { readWaitStatus, waitPid } from "./wait-calls.ts";

test("recognizes an ended child by its state and parent, whatever its name", () => {
  expect(isZombieOf("12 (sleep) Z 7 12 12", 7)).toBe(true);
  expect(isZombieOf("12 (a) Z 7 (b) S 7 12 12", 7)).toBe(false);
  expect(isZombieOf("12 (a) S 1 (b) Z 7 12 12", 7)).toBe(true);
  expect(isZombieOf("12 (sleep) S 7 12 12", 7)).toBe(false);
  expect(isZombieOf("12 (sleep) Z 8 12 12", 7)).toBe(false);
  expect(isZombieOf("", 7)).toBe(false);
});

test("leaves a running child, and one that this process started, to Node", async () => {
  const child = spawn("sleep", ["60"]);
  const own = child.pid ?? 0;
  expect(waitPid(own)).toBeUndefined();
  child.kill("SIGKILL");
  // Synchronous, so that Node has no turn in which it could wait for the child itself.
  while (!isZombieOf(readFileSync(`/proc/${own}/stat`, "utf8"), process.pid));
  expect(reapOrphans({ isOwn: (pid) => pid === own }).map(({ pid }) => pid)).not.toContain(own);
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
  expect(() => waitPid(own)).toThrow(expect.objectContaining({ errno: "ECHILD" }));
});

test("reports an orphan's name, whatever it contains, and how it ended", () => {
  expect(nameIn("12 (qemu-system-x86) Z 1 12 12")).toBe("qemu-system-x86");
  expect(nameIn("12 (a) (b) Z 1 12 12")).toBe("a) (b");
  expect(readWaitStatus(3 << 8)).toEqual({ code: 3 });
  expect(readWaitStatus(9)).toEqual({ signal: "SIGKILL" });
  // With a core dump.
  expect(readWaitStatus(0x80 | 11)).toEqual({ signal: "SIGSEGV" });
  expect(readWaitStatus(40)).toEqual({ signal: "signal 40" });
});

test("reports the signal that ended a child that it waited for", async () => {
  const child = spawn("sleep", ["60"]);
  const pid = child.pid ?? 0;
  child.kill("SIGKILL");
  while (!isZombieOf(readFileSync(`/proc/${pid}/stat`, "utf8"), process.pid));
  expect(waitPid(pid)).toEqual({ signal: "SIGKILL" });
});
