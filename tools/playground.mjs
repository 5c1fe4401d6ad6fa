#!/usr/bin/env node
/** Serves the playground: `npm run playground [-- --port PORT] [--host]`. */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { root, setUpWorkspace } from "./setup.mjs";

const { values } = parseArgs({
  options: { port: { type: "string" }, host: { type: "boolean", default: false } },
});
await setUpWorkspace();
const folder = path.join(root, "examples/playground");
// Vite is available only once the workspace is set up.
const { createServer } = await import(
  pathToFileURL(path.join(folder, "node_modules/vite/dist/node/index.js")).href
);
const server = await createServer({
  root: folder,
  configFile: false,
  server: { host: values.host, ...(values.port ? { port: Number(values.port) } : {}) },
});
await server.listen();
server.printUrls();
