import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { clusterConfig } from "@virtkit/api/config";
import { planNode } from "@virtkit/node-agent/plan";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Benchmark} Benchmark */

/** As the program `virtkit-node-agent` runs. */
const execArgv = ["--expose-gc", "--lite-mode", "--max-semi-space-size=1"];
const sizes = [0, 1, 10, 20];
let costs = "";

/** What the agent takes with so many guests; its process also has the API server and the launchers of the test. */
async function measureCosts() {
  const program = fileURLToPath(new URL("agent-process.mjs", import.meta.url));
  const child = fork(program, [], { execArgv });
  try {
    await once(child, "message");
    const found = [];
    for (const guests of sizes) {
      const answered = once(child, "message");
      child.send({ guests });
      const [{ rss, cpu }] = await answered;
      found.push(`${guests} guests ${(rss / 2 ** 20).toFixed(1)} MiB ${(cpu * 100).toFixed(2)} %`);
    }
    const restarted = once(child, "message");
    child.send({ guests: sizes.at(-1), restarts: 9 });
    const [{ median }] = await restarted;
    const right = `all statuses correct ${median.toFixed(0)} ms after a restart (median of 9), goal 3 s`;
    costs = `RSS and CPU at rest: ${found.join(", ")}; goal under 90 MiB idle, 2 MiB and 0.2 % a guest; ${right}`;
    return true;
  } finally {
    child.kill();
  }
}

const config = clusterConfig();
const metadata = { name: "vm", namespace: "default", uid: "u" };
const spec = { domain: { devices: {} } };
const view = {
  vmi: { metadata, spec, status: { phase: "Running", nodeName: "node01" } },
  domain: {
    ...{ name: "default_vm", vmiUid: "u", state: "Running", reason: "Unknown" },
    ...{ agent: "disconnected", interfaces: [], disks: [] },
  },
  launcher: { state: "ready", isConnected: true },
  ...{ node: "node01", config, now: 0 },
};
const passes = 1_000;

/** @type {readonly Benchmark[]} */
export const benchmarks = [
  {
    name: "node agent: plan a pass over a running guest",
    available: measureCosts,
    get goal() {
      return costs;
    },
    subject: {
      name: "planNode",
      prepare: () =>
        /** @type {import("@virtkit/node-agent/plan").NodeView} */ (/** @type {unknown} */ (view)),
      run: (input) => {
        for (let pass = 0; pass < passes; pass++) planNode(input);
        return passes;
      },
    },
  },
];
