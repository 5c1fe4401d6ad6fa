import { sleep } from "@virtkit/api/clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import { leases } from "../election/lease.ts";
import { FrozenProcess, type Latency } from "../testing/frozen-process.ts";
import { MemoryClient, MemoryStore } from "../testing/memory-client.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { Shards } from "./shards.ts";

const seed = Number(process.env["VIRTKIT_SEED"] ?? 20_261_116);

/** Members that share shards; each act of their work is checked. */
class World {
  readonly clock = new VirtualClock();
  readonly store = new MemoryStore();
  readonly violations: string[] = [];
  readonly #terms = new Map<number, number>();
  readonly #count: number;
  #started = 0;

  constructor(count: number) {
    this.#count = count;
  }

  join(who: number) {
    const process = new FrozenProcess(this.clock);
    const network: { latency: Latency } = { latency: { there: 5, back: 5 } };
    const client = new MemoryClient(
      this.store,
      process.network(() => network.latency),
    );
    const identity = `member-${who}`;
    const random = { number: () => (who % 5) / 5, uuid: () => identity };
    const shards = new Shards({
      client,
      namespace: "default",
      name: "demo",
      shards: this.#count,
      identity,
      clock: process,
      wall: () => new Date(this.clock.now()),
      random,
    });
    const stop = new AbortController();
    const working = new Set<number>();
    const running = shards.run(
      async (shard, leadership) => {
        const term = ++this.#started;
        working.add(shard);
        while (!leadership.signal.aborted) {
          if (leadership.isHeld()) this.#act(shard, term, identity);
          await sleep(process, 500, leadership.signal);
        }
        working.delete(shard);
      },
      { signal: stop.signal },
    );
    return { process, network, shards, stop, running, working };
  }

  #act(shard: number, term: number, who: string): void {
    const latest = this.#terms.get(shard) ?? 0;
    const when = `${this.clock.now()}: ${who} acts on shard ${shard} in term ${term}`;
    if (term < latest) this.violations.push(`${when}, and term ${latest} has begun`);
    this.#terms.set(shard, Math.max(latest, term));
  }
}

const sizes = (members: readonly { readonly working: ReadonlySet<number> }[]): number[] =>
  members.map(({ working }) => working.size).sort();

test("members share the shards; those of a dead member move, and a new member gets its share", async () => {
  const world = new World(8);
  const [one, two, three] = [world.join(1), world.join(2), world.join(3)];
  await world.clock.pass(60_000);
  expect(sizes([one, two, three])).toEqual([2, 3, 3]);
  three.process.freeze();
  three.network.latency = { there: 0, back: 0, isCut: true };
  // A lease's duration, and a few looks.
  await world.clock.pass(25_000);
  expect(sizes([one, two])).toEqual([4, 4]);
  const four = world.join(4);
  await world.clock.pass(30_000);
  expect(sizes([one, two, four])).toEqual([2, 3, 3]);
  // What was frozen wakes, finds that nothing is its own any more, and gets its part.
  three.network.latency = { there: 5, back: 5 };
  await three.process.thaw();
  await world.clock.pass(60_000);
  expect(sizes([one, two, three, four])).toEqual([2, 2, 2, 2]);
  for (const { stop } of [one, two, three]) stop.abort();
  await world.clock.pass(20_000);
  await Promise.all([one, two, three].map(({ running }) => running));
  expect(four.working.size).toBe(8);
  expect(world.violations).toEqual([]);
});

test("the lease of a dead member is eventually removed", async () => {
  const world = new World(2);
  const [one, two] = [world.join(1), world.join(2)];
  await world.clock.pass(20_000);
  two.process.freeze();
  two.network.latency = { there: 0, back: 0, isCut: true };
  const members = async (): Promise<number> => {
    const labelSelector = "virtkit.io/shard-member=true";
    return (await new MemoryClient(world.store).list(leases, { labelSelector })).items.length;
  };
  expect(await members()).toBe(2);
  await world.clock.pass(300_000);
  expect([await members(), one.working.size]).toEqual([1, 2]);
});

test("work that throws ends the member, and its shards go to others", async () => {
  const world = new World(3);
  const client = new MemoryClient(world.store);
  const base = { client, namespace: "default", name: "demo", shards: 3, clock: world.clock };
  const broken = new Shards({ ...base, identity: "broken" }).run(async () => {
    throw new Error("broken");
  });
  const failing = expect(broken).rejects.toThrow("broken");
  await world.clock.pass(10_000);
  await failing;
  const one = world.join(1);
  await world.clock.pass(10_000);
  expect(one.working.size).toBe(3);
});

test("rejects an invalid number of shards", () => {
  const options = { client: new MemoryClient(), namespace: "default", name: "demo" };
  expect(() => new Shards({ ...options, shards: 0 })).toThrow(/shards is 0; it must be 1 or more/);
});

const faults = fc.array(
  fc.record({
    who: fc.nat({ max: 2 }),
    at: fc.integer({ min: 0, max: 120_000 }),
    lasts: fc.integer({ min: 500, max: 40_000 }),
    kind: fc.constantFrom("freeze", "cut"),
  }),
  { minLength: 1, maxLength: 6 },
);

test("whatever freezes or is cut off, two members never hold one shard, and afterwards every shard is held", async () => {
  await fc.assert(
    fc.asyncProperty(faults, async (all) => {
      const world = new World(5);
      const members = [world.join(0), world.join(1), world.join(2)];
      for (const { who, at, lasts, kind } of all) {
        const member = members[who];
        if (!member) continue;
        world.clock.setTimeout(() => {
          if (kind === "freeze") member.process.freeze();
          else member.network.latency = { there: 500, back: 0, isCut: true };
        }, at);
        world.clock.setTimeout(() => {
          member.network.latency = { there: 5, back: 5 };
          void member.process.thaw();
        }, at + lasts);
      }
      await world.clock.pass(240_000);
      expect(world.violations).toEqual([]);
      expect(sizes(members)).toEqual([1, 2, 2]);
    }),
    { numRuns: 25, seed },
  );
});
