import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { guestDisk } from "@virtkit/lab";
import { expect, test } from "vitest";

const program = join(import.meta.dirname, "run.mjs");

test("boots a VMI, runs a command in its guest and leaves nothing", async () => {
  const child = spawn(process.execPath, [program, await guestDisk()]);
  let out = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      out += String(chunk);
    });
  }
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect(out).toMatch(/^agent-connected done$/m);
  expect(out).toMatch(/^The guest runs Linux \d/m);
  expect(code).toBe(0);
  expect(existsSync(`/proc/${child.pid}`)).toBe(false);
  expect(readFileSync("/proc/mounts", "utf8")).not.toContain("virtkit-run-a-vm-");
});

test("the example has fewer than 40 lines of code", () => {
  const lines = readFileSync(program, "utf8").split("\n");
  const code = lines.filter((line) => line.trim() !== "" && !line.trim().startsWith("//"));
  expect(code.length).toBeLessThan(40);
});
