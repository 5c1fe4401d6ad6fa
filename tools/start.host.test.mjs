import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root } from "./setup.mjs";

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} state where VMIs and images are kept
 * @returns {Promise<{ code: number | null, out: string }>}
 */
async function run(command, args, state) {
  const env = { ...process.env, VIRTKIT_STATE_DIR: state };
  const child = spawn(command, args, { cwd: root, env });
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

test("npm start -- --once boots a VMI, reaches it, moves it while it answers, stops it and prints what each handoff took", async () => {
  const state = mkdtempSync(path.join(tmpdir(), "virtkit-start-"));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const { code, out } = await run("npm", ["start", "--", "--once"], state);
  expect(out).toMatch(/Guest, through port \d+ of this host: boot_id=[0-9a-f-]{36}/);
  expect(out).toMatch(/Moved while it answered requests: downtime \d+ ms/);
  const boots = [...out.matchAll(/boot_id=([0-9a-f-]{36})/g)].map(([, id]) => id);
  expect(boots).toHaveLength(2);
  expect(new Set(boots).size).toBe(1);
  expect(out).toMatch(/^ {2}agent-connected +\d+\.\d\d s +\+\d+\.\d\d s {2}guest$/m);
  expect(out).toContain("demo is removed");
  expect(out).not.toContain("\u001b[");
  expect(code).toBe(0);
  const image = /^Image of the demo: (.*)$/m.exec(out)?.[1] ?? "";
  expect(statSync(image).isFile()).toBe(true);
  const [, line = ""] = /: sudo npx (virtkit run -f examples\/vms\/demo\.yaml)$/m.exec(out) ?? [];
  const again = await run("npx", [...line.split(" "), "--detach"], state);
  const removed = await run("npx", ["virtkit", "rm", "--now", "demo"], state);
  expect(again.out).toContain("guest-running");
  expect([again.code, removed.code]).toEqual([0, 0]);
}, 300_000);
