import type { Claimed } from "@virtkit/api/grant";
import { CertificateAuthority, type MigrationSide } from "@virtkit/pki";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentMove, type AgentMoveOptions } from "../testing/agent-move.ts";
import { claimedOn, vmi } from "../testing/joined-move.ts";
import { inGuest, JoinedNodes } from "../testing/joined-nodes.ts";

let joined: JoinedNodes;
let authority: CertificateAuthority;
let bootId: string;
let number = 0;
let claimed: Claimed = claimedOn("a");
const askBootId = "cat /proc/sys/kernel/random/boot_id";

beforeAll(async () => {
  const memory = { read: async () => undefined, swap: async () => true };
  authority = await CertificateAuthority.open({ store: memory, trustDomain: "lab" });
  joined = await JoinedNodes.start();
  bootId = await inGuest(joined.both[0], askBootId);
});
afterAll(async () => await joined?.[Symbol.asyncDispose]());

async function started(options?: AgentMoveOptions): Promise<AgentMove> {
  const parts = { number: ++number, nodes: joined.both, authority, vmi, claimed };
  return await AgentMove.start(parts, options);
}

/** The same guest, there and nowhere else, with the grant; and how each side's part ended. */
async function expectEnd(move: AgentMove, outcome: "stays" | "moves"): Promise<void> {
  const [source, target] = await Promise.all([
    move.agent("source").ended,
    move.agent("target").ended,
  ]);
  const stays = outcome === "stays";
  expect(source).toMatchObject({ settled: stays ? "runs" : "ended" });
  expect(target).toMatchObject({ settled: stays ? "ended" : "runs" });
  const node = stays ? move.source : move.target;
  expect(await joined.running()).toEqual([node.name]);
  expect(move.api.grant).toMatchObject({ state: "Claimed", holder: { node: node.name } });
  claimed = move.api.grant as Claimed;
  expect(await inGuest(node, askBootId)).toBe(bootId);
}

test("two agents in separate processes plan, proxy and claim: the guest moves", async () => {
  await using move = await started();
  await expectEnd(move, "moves");
  expect(move.agent("source").steps.at(-1)).toBe("migrate");
});

const seams: readonly (readonly [MigrationSide[], string, "stays" | "moves"])[] = [
  [["source"], "source domainMigratePerform.before", "stays"],
  [["target"], "source domainMigratePerform.before", "stays"],
  [["target"], "target domainMigrateFinish.after", "stays"],
  [["target"], "target domainResume.before", "moves"],
  [["source", "target"], "source domainMigrateConfirm.before", "moves"],
];

test.each(seams)(
  "the agent of the %s is killed at %s and restarted: one copy, and it %s",
  async (sides, holdAt, outcome) => {
    await using move = await started({ holdAt });
    await move.held;
    for (const side of sides) await move.agent(side).kill();
    move.go();
    const again = sides.map((side) => move.startAgent(side));
    await expectEnd(move, outcome);
    // It starts nothing again: the launcher has the migration.
    for (const { steps } of again) expect(steps).toEqual(["none"]);
  },
);

test("the source's agent is killed when the decision is only on disk: the next one publishes it", async () => {
  await using move = await started({ untoldDecision: true });
  await move.agent("source").exited;
  expect(move.api.grant.state).toBe("HandingOver");
  expect(await joined.running()).toEqual([]);
  move.startAgent("source");
  await expectEnd(move, "moves");
});
