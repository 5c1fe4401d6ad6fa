import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { clusterLeftovers } from "./cluster-leftovers.mjs";
import { root } from "./setup.mjs";

/** `VIRTKIT_FAULTS` selects cases of the tables of faults, and this is none. */
const isSelected = !process.env["VIRTKIT_FAULTS"];

test.runIf(isSelected)(
  "npm start -- --cluster --once installs the platform in a cluster of its own, boots a VM until it is ready, reaches it, stops it, prints the timeline, and leaves nothing",
  async () => {
    const before = clusterLeftovers();
    const child = spawn("npm", ["start", "--", "--cluster", "--once"], { cwd: root });
    let out = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        out += chunk;
      });
    }
    const code = await new Promise((resolve) => child.once("close", resolve));
    for (const line of [
      "a Kubernetes with 2 nodes runs",
      "the platform is installed",
      /VM default\/\S+ is ready, at \d+\.\d+\.\d+\.\d+/,
      /the guest answers on port 80: \S+/,
      /VM default\/\S+ has stopped/,
      /^ {2}guest-running +done +\S+Z +launcher$/m,
      /nothing of it is left\n$/,
    ])
      expect(out).toMatch(line);
    expect(code).toBe(0);
    expect(clusterLeftovers().filter((each) => !before.includes(each))).toEqual([]);
  },
  600_000,
);
