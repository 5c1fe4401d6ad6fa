import { existsSync } from "node:fs";
import { TwoNodes } from "./two-nodes.mjs";

/** @type {Promise<TwoNodes> | undefined} */
let started;

/** @param {number[]} values */
function median(values, digits = 0) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]?.toFixed(digits) ?? "?";
}

async function close() {
  const nodes = await started;
  if (!nodes) return;
  const { resumed, answered, ours, theirs } = nodes.times;
  process.stdout.write(
    `migration: the target resumed ${median(resumed)} ms after perform had answered, by QEMU's timestamp (median of ${resumed.length}) [goal: at most 40]; libvirt reported it after ${median(answered)} ms\n` +
      `migration: the guest was paused for ${median(ours)} ms with five phases, ${median(theirs)} ms with virsh --p2p (medians of ${ours.length} and ${theirs.length}, by QEMU's timestamps)\n`,
  );
  const split = [...nodes.split].map(([name, values]) => `${name} ${median(values, 1)}`);
  process.stdout.write(
    `migration: steps between perform and resume: ${split.join(", ")} ms (medians)\n`,
  );
  await nodes.close();
}

/** One side: a move. What the last one took is noted between two of them, and the guest then goes the other way. */
const contender = (/** @type {"ours" | "theirs"} */ who) => ({
  prepare: async () => {
    started ??= TwoNodes.start();
    const nodes = await started;
    await nodes.turn();
    return nodes;
  },
  run: async (/** @type {TwoNodes} */ nodes) => {
    await nodes.move(who);
    return 1;
  },
});

export const benchmarks = [
  {
    name: "migration: a running guest of 256 MiB, from begin until the source has ended",
    clock: "wall",
    goal: "at least 0.87 x as fast: at most 1.15 times the total time",
    available: () =>
      (process.getuid?.() === 0 && existsSync("/usr/sbin/libvirtd")) || "needs root and libvirtd",
    close,
    subject: { name: "driveMigration", ...contender("ours") },
    baseline: { name: "virsh migrate --live --p2p", ...contender("theirs") },
  },
];
