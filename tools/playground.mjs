#!/usr/bin/env node
/** Serves the playground: `npm run playground [-- --port PORT]`; other options are Vite's. */
import { spawn } from "node:child_process";
import path from "node:path";
import { root, setUpWorkspace } from "./setup.mjs";

await setUpWorkspace();
const folder = path.join(root, "examples/playground");
const vite = path.join(folder, "node_modules/vite/bin/vite.js");
const server = spawn(process.execPath, [vite, ...process.argv.slice(2)], {
  cwd: folder,
  stdio: "inherit",
});
server.on("exit", (code) => {
  process.exitCode = code ?? 0;
});
