import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { killDescendants } from "./kill-tree.mjs";

test("ends children and grandchildren, and leaves their ancestor alone", async () => {
  const script = "sleep 1000 & echo $!; wait; echo over; read line";
  const child = spawn("sh", ["-c", script], { stdio: ["pipe", "pipe", "ignore"] });
  const [first] = await once(child.stdout, "data");
  killDescendants(/** @type {number} */ (child.pid));
  const [second] = await once(child.stdout, "data");
  expect(String(second)).toBe("over\n");
  expect(() => process.kill(Number(first), 0)).toThrow("ESRCH");
  child.stdin.end("\n");
  await once(child, "exit");
});
