import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { root } from "./setup.mjs";

/** @returns {Promise<{ code: number | null, out: string }>} */
async function npmStart(/** @type {string[]} */ ...args) {
  const child = spawn("npm", ["start", "--", ...args], { cwd: root });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      out += String(chunk);
    });
  }
  return await new Promise((resolve) => {
    child.on("close", (code) => resolve({ code, out }));
  });
}

test("npm start -- --once boots a machine, reaches it, stops it and prints what each handoff took", async () => {
  const { code, out } = await npmStart("--once");
  expect(out).toMatch(/Guest, through port \d+ of this host: boot_id=[0-9a-f-]{36}/);
  expect(out).toMatch(/^ {2}agent-connected +\d+\.\d\d s +\+\d+\.\d\d s {2}guest$/m);
  expect(out).toContain("demo is removed");
  expect(out).not.toContain("\u001b[");
  expect(code).toBe(0);
}, 300_000);
