import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startReaper } from "./reaper.ts";

test("leaves our own children to Node, however they were started", async () => {
  const reaped: unknown[] = [];
  using _reaper = startReaper((orphans) => reaped.push(...orphans));
  const child = spawn("true");
  expect(await once(child, "exit")).toEqual([0, null]);
  expect((await promisify(execFile)("echo", ["x"])).stdout).toBe("x\n");
  await expect(promisify(execFile)("false")).rejects.toMatchObject({ code: 1 });
  await expect(promisify(execFile)("/nowhere/program")).rejects.toMatchObject({ code: "ENOENT" });
  expect(reaped).toEqual([]);
});
