import { afterAll, expect, test } from "vitest";
import { FaultLab } from "./testing/fault-lab.ts";
import type { Move, MoveOptions, TwoNodes } from "./testing/two-nodes.ts";
import { patiently } from "./testing/two-nodes.ts";

const nodes = new FaultLab();
afterAll(async () => await nodes[Symbol.asyncDispose]());

/** Milliseconds. Each test boots two guests, and breaks a migration between. */
const guard = 420_000;

/** A move that switches at once, and whose rest takes so many MiB a second. */
const postCopy = (rest: number): MoveOptions => ({
  flags: ["postcopy"],
  params: { bandwidth: 10, "bandwidth.postcopy": rest },
  giveUp: { iteration: 1, how: "postCopy" },
  ...{ patience: 1_500, interval: 200 },
});

/**
 * Has the target's QEMU hang, and breaks the stream. A QEMU that waits for a page with its lock held answers as little as
 * one that is stopped, and libvirt cannot tell them apart; the former takes luck.
 */
async function hang(move: Move): Promise<void> {
  expect(await move.killQemu(move.target, "STOP")).toBe(true);
  move.data.cut();
}

async function states(lab: TwoNodes, { source, target }: Move): Promise<readonly string[]> {
  return [await lab.state(source), await lab.state(target), (await lab.grant()).state];
}

test(
  "post-copy breaks, and the target's QEMU hangs before it has run: its copy is ended, and the VM can start cold",
  async () => {
    await nodes.use(async (lab) => {
      const move = await lab.move({ ...postCopy(100), holdTarget: ["finish.before"] });
      const { source, target } = await move.run();
      await target.reached("finish.before");
      await hang(move);
      source.letTimePass();
      target.go("finish.before");
      expect(await source.outcome()).toMatchObject({
        outcome: "broken",
        settled: { source: "waits", for: "coldStart", why: expect.stringContaining("starts cold") },
      });
      expect(await target.outcome()).toEqual({ target: "ended" });
      expect(await states(lab, move)).toEqual(["paused (post-copy failed)", "absent", "Committed"]);
      expect(lab.faults(move.source)).toEqual([]);
      // It checks that nobody starts the VM without proof of both ends.
      await lab.grantAnew(move);
      await lab.boot();
    });
  },
  guard,
);

test(
  "control: the target's QEMU hangs once it has run: nothing is ended, and the message says what to do",
  async () => {
    await nodes.use(async (lab) => {
      const move = await lab.move(postCopy(4));
      const { source } = await move.run();
      await patiently("the target runs in post-copy", async () =>
        (await lab.state(move.target)).startsWith("running"),
      );
      await hang(move);
      source.letTimePass();
      expect(await source.outcome()).toMatchObject({
        outcome: "broken",
        settled: {
          ...{ source: "waits", for: "recovery" },
          why: expect.stringMatching(/recover the post-copy; .* end both launcher Pods/),
        },
      });
      const [there, here, grant] = await states(lab, move);
      expect([there, grant]).toEqual(["paused (post-copy failed)", "Committed"]);
      expect(here).toMatch(/^running/);
      await lab.boot();
    });
  },
  guard,
);
