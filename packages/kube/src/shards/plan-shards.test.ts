import fc from "fast-check";
import { expect, test } from "vitest";
import { planShards } from "./plan-shards.ts";
import { shardOf } from "./shard-of.ts";

test("the shard of a namespace never changes", () => {
  expect(
    ["default", "kube-system", "demo", undefined].map((namespace) => shardOf(namespace, 16)),
  ).toEqual([1, 0, 12, 2]);
  expect(shardOf("default", 1)).toBe(0);
});

test("namespaces are spread evenly", () => {
  const counts = Array<number>(8).fill(0);
  for (let i = 0; i < 8_000; i++) {
    const shard = shardOf(`namespace-${i}`, 8);
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  expect(Math.min(...counts)).toBeGreaterThan(900);
  expect(Math.max(...counts)).toBeLessThan(1_100);
});

test("a member with too many shards releases some, and one with too few takes free ones", () => {
  const view = { shards: 5, identity: "b", members: ["a", "b"], held: [0, 1, 2], free: [] };
  expect(planShards(view)).toEqual({ take: [], release: [2] });
  expect(planShards({ ...view, held: [0], free: [0, 3, 4] })).toEqual({ take: [4], release: [] });
  expect(planShards({ ...view, members: [], held: [0], free: [1, 2, 3, 4] })).toEqual({
    take: [1, 2, 3, 4],
    release: [],
  });
});

test("members that agree on who is alive end up holding every shard once, evenly, and then rest", () => {
  const count = fc.integer({ min: 1, max: 20 });
  const start = fc.array(fc.nat({ max: 6 }), { minLength: 20, maxLength: 20 });
  fc.assert(
    fc.property(count, fc.integer({ min: 1, max: 6 }), start, (shards, size, owners) => {
      const members = Array.from({ length: size }, (_, index) => `member-${index}`);
      // Some shards are held by members that are gone: those are free.
      const holders = Array.from({ length: shards }, (_, shard) => members[owners[shard] ?? 0]);
      for (let round = 0; round < 2 * shards + 2; round++) {
        for (const identity of members) {
          const held = indexesOf(holders, identity);
          const free = indexesOf(holders, undefined);
          const { take, release } = planShards({ shards, identity, members, held, free });
          for (const shard of take) holders[shard] = identity;
          for (const shard of release) holders[shard] = undefined;
        }
      }
      const parts = members.map((identity) => indexesOf(holders, identity).length);
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(shards);
      expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1);
    }),
  );
});

function indexesOf(holders: readonly (string | undefined)[], who: string | undefined): number[] {
  return holders.flatMap((holder, shard) => (holder === who ? [shard] : []));
}
