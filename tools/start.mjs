#!/usr/bin/env node
/** Shows what a sample VMI becomes, stage by stage: `npm start [-- FILE]`. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { root, setUpWorkspace } from "./setup.mjs";

const virtkit = path.join(root, "packages/cli/bin/virtkit.js");

/** The stages of the pipeline that have a command, in order. */
const stages = [
  { title: "Is it a valid VMI?", command: "validate" },
  { title: "What the API server would store: the VMI with its defaults", command: "default" },
  { title: "What Kubernetes would run: the launcher Pod", command: "pod" },
  { title: "What libvirt would run: the domain", command: "convert" },
];

await setUpWorkspace();
const file = path.resolve(process.argv[2] ?? path.join(root, "examples/vms/demo.yaml"));
for (const { title, command } of stages) {
  process.stdout.write(
    `\n=== ${title}\n$ npx virtkit ${command} -f ${path.relative(".", file)}\n\n`,
  );
  const { status } = spawnSync(process.execPath, [virtkit, command, "-f", file], {
    stdio: "inherit",
  });
  if (status !== 0) {
    process.exitCode = status ?? 1;
    break;
  }
}
