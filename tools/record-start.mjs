#!/usr/bin/env node
/**
 * Records `npm start -- --once` as a picture: `sudo node tools/record-start.mjs` writes `docs/start.svg`, in
 * which the lines appear one after the other. Pauses are shortened to at most two seconds, and the output of
 * the set-up is left out; times within the lines are unchanged.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { recordingSvg } from "./recording-svg.mjs";
import { root } from "./setup.mjs";

/** The longest pause between two lines, in seconds. */
const longestPause = 2;

/** @param {readonly import("./recording-svg.mjs").RecordedLine[]} recorded */
function withoutWaiting(recorded) {
  let [at, before] = [0, 0];
  return recorded
    .filter(({ text }) => !text.startsWith("setup:"))
    .map((line) => {
      at += Math.min(longestPause, line.at - before);
      before = line.at;
      return { ...line, at };
    });
}

const began = Date.now();
const args = [path.join(root, "tools/start.mjs"), "--once"];
const child = spawn(process.execPath, args, {
  cwd: root,
  env: { ...process.env, NO_COLOR: "1" },
  stdio: ["ignore", "pipe", "pipe"],
});
/** @type {import("./recording-svg.mjs").RecordedLine[]} */
const lines = [{ at: 0, text: "$ sudo npm start -- --once" }];
let rest = "";
for (const stream of [child.stdout, child.stderr]) {
  stream.setEncoding("utf8").on("data", (chunk) => {
    process.stdout.write(chunk);
    const parts = (rest + chunk).split(/\r?\n/);
    rest = parts.pop() ?? "";
    for (const text of parts) lines.push({ at: (Date.now() - began) / 1000, text });
  });
}
const code = await new Promise((resolve) => child.on("close", resolve));
if (code === 0)
  writeFileSync(path.join(root, "docs/start.svg"), recordingSvg(withoutWaiting(lines)));
process.exitCode = Number(code ?? 1);
