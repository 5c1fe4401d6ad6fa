import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isZombieOf, reapOrphans } from "./reap-orphans.ts";
import { waitPid } from "./wait-calls.ts";

test("an ended child is told by its state and parent, whatever its name", () => {
  expect(isZombieOf("12 (sleep) Z 7 12 12", 7)).toBe(true);
  expect(isZombieOf("12 (a) Z 7 (b) S 7 12 12", 7)).toBe(false);
  expect(isZombieOf("12 (a) S 1 (b) Z 7 12 12", 7)).toBe(true);
  expect(isZombieOf("12 (sleep) S 7 12 12", 7)).toBe(false);
  expect(isZombieOf("12 (sleep) Z 8 12 12", 7)).toBe(false);
  expect(isZombieOf("", 7)).toBe(false);
});

test("a child that runs, or that this process started, is left to Node", async () => {
  const child = spawn("sleep", ["60"]);
  const own = child.pid ?? 0;
  expect(waitPid(own)).toBe(false);
  child.kill("SIGKILL");
  // Synchronous: Node has no turn in which it could wait for the child itself.
  while (!isZombieOf(readFileSync(`/proc/${own}/stat`, "utf8"), process.pid));
  expect(reapOrphans({ isOwn: (pid) => pid === own })).not.toContain(own);
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
  expect(() => waitPid(own)).toThrow(expect.objectContaining({ errno: "ECHILD" }));
});
