import { expect, test } from "vitest";
import type { Seam, SeamHook } from "../service/seams.ts";
import { outcome, settle } from "../testing/moving-outcome.ts";
import { MovingWorld, type WorldNode } from "../testing/moving-world.ts";

/** Kills an agent before or after the nth thing that it does in a migration, and starts it again. */
async function play(
  node: WorldNode,
  killAt: number | undefined,
): Promise<{ readonly moments: readonly string[]; readonly outcome: string }> {
  await using world = new MovingWorld();
  await world.begin();
  world.start("a");
  await world.clock.pass(5_000);
  const moments: string[] = [];
  let isDead = false;
  const seam: SeamHook = async (name, when) => {
    if (isDead) await new Promise(() => {});
    moments.push(`${when} "${name}"`);
    if (moments.length - 1 !== killAt) return;
    isDead = true;
    world.stop(node);
    await new Promise(() => {});
  };
  if (node === "a") {
    world.stop("a");
    world.start("a", seam);
  }
  world.start("b", node === "b" ? seam : undefined);
  await world.clock.pass(1_000);
  await world.handOff();
  for (let passed = 0; passed < 20_000; passed += 500) {
    await world.clock.pass(500);
    await world.grantHandover();
    if (isDead && passed > 6_000) {
      world.start(node);
      isDead = false;
      killAt = undefined;
    }
  }
  await settle(world, 130_000);
  return { moments, outcome: await outcome(world) };
}

const both = ["ask for a certificate", "write the migration's state"] as const;

/** What the agent of each node does in any migration; no other table has these. */
const done: Readonly<Record<WorldNode, readonly Seam[]>> = {
  a: [...both, "open the way out", "begin the migration"],
  b: [...both, "open the way in", "receive the guest"],
};

test.each(["a", "b"] as const)(
  "when the agent of node %s is killed at any moment and restarted, the guest runs once and the migration ends",
  async (node) => {
    const { moments, outcome: undisturbed } = await play(node, undefined);
    expect(undisturbed).toBe("b runs, moved");
    for (const seam of done[node]) expect(moments).toContain(`after "${seam}"`);
    const found: Record<string, string> = {};
    for (const at of moments.keys()) {
      found[`${at} ${moments[at]}`] = (await play(node, at)).outcome;
    }
    const wrong = Object.entries(found).filter(
      ([, each]) => each !== "a runs, failed" && each !== "b runs, moved",
    );
    expect(wrong).toEqual([]);
  },
  240_000,
);
