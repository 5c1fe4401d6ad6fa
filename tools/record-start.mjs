#!/usr/bin/env node
/**
 * Records `npm start -- --once` as a picture: `sudo node tools/record-start.mjs` writes `docs/start.svg`,
 * in which the lines appear at the times at which they were printed.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { recordingSvg } from "./recording-svg.mjs";
import { root } from "./setup.mjs";

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
if (code === 0) writeFileSync(path.join(root, "docs/start.svg"), recordingSvg(lines));
process.exitCode = Number(code ?? 1);
