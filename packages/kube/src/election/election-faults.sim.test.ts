import { type Clock, sleep } from "@virtkit/api/clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FrozenProcess, type Latency } from "../testing/frozen-process.ts";
import { MemoryClient, MemoryStore } from "../testing/memory-client.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { Election } from "./election.ts";
import type { Leadership } from "./leadership.ts";

const seed = Number(process.env["VIRTKIT_SEED"] ?? 20_261_116);
const candidates = 3;
const duration = 180_000;
/** How long the work takes to end once it is told to. */
const stopping = 1_500;
/** Between two acts. */
const step = 250;

interface Fault {
  readonly who: number;
  readonly at: number;
  readonly lasts: number;
  readonly kind: "freeze" | "slow" | "cut";
  /** Share of the latency that lies before the effect of a request. */
  readonly there: number;
}

const faults = fc.array(
  fc.record<Fault>({
    who: fc.nat({ max: candidates - 1 }),
    at: fc.integer({ min: 0, max: duration }),
    lasts: fc.integer({ min: 500, max: 50_000 }),
    kind: fc.constantFrom("freeze", "slow", "cut"),
    there: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { minLength: 1, maxLength: 8 },
);

/** What a process does with its leadership. */
type Work = (
  leadership: Leadership,
  process: { readonly clock: Clock; act(): void },
) => Promise<void>;

/** Acts again and again, each time after a check; when it is told to stop it needs a while. */
const careful: Work = async (leadership, { clock, act }) => {
  let left = stopping;
  while (left > 0 && leadership.isHeld()) {
    act();
    await sleep(clock, step);
    if (leadership.signal.aborted) left -= step;
  }
  while (left > 0) {
    // No acts any more, but it is still there.
    await sleep(clock, step);
    left -= step;
  }
};

/** Trusts its signal alone. */
const trusting: Work = async (leadership, { clock, act }) => {
  while (!leadership.signal.aborted) {
    act();
    await sleep(clock, step);
  }
};

/** Finishes what it is at when it is told to stop, without a look at the lease. */
const slow: Work = async (leadership, { clock, act }) => {
  let left = stopping;
  while (left > 0) {
    act();
    await sleep(clock, step);
    if (leadership.signal.aborted) left -= step;
  }
};

/** Runs the candidates under faults. Throws if one acts after a later one has begun. */
async function simulate(
  all: readonly Fault[],
  work: Work,
  times: { readonly margin?: number; readonly canFreeze?: boolean } = {},
): Promise<{ readonly terms: number; readonly acts: number }> {
  const { margin = 5_000, canFreeze = true } = times;
  const clock = new VirtualClock();
  const wall = (): Date => new Date(clock.now());
  const store = new MemoryStore();
  const over = new AbortController();
  let terms = 0;
  let latest = 0;
  let acts = 0;
  const violations: string[] = [];
  const processes = Array.from({ length: candidates }, () => new FrozenProcess(clock));
  const latencies: Latency[] = processes.map(() => ({ there: 5, back: 5 }));
  const leading = processes.map(async (process, who) => {
    const random = { number: () => (who + 1) / 4, uuid: () => `process-${who}` };
    const network = process.network(() => latencies[who] ?? { there: 0, back: 0 });
    const client = new MemoryClient(store, network);
    const options = {
      client,
      namespace: "default",
      name: "demo",
      clock: process,
      wall,
      random,
      margin,
    };
    await new Election(options).lead(
      async (leadership) => {
        const term = ++terms;
        const act = (): void => {
          acts++;
          const when = `${clock.now()}: ${who} acts in term ${term}`;
          if (term < latest) violations.push(`${when}, and term ${latest} has begun`);
          latest = Math.max(latest, term);
        };
        await work(leadership, { clock: process, act });
      },
      { signal: over.signal },
    );
  });
  const outcome = Promise.all(leading);
  outcome.catch(() => {
    // Told below, once everything has come to its end.
  });
  for (const { who, at, lasts, kind, there } of all) {
    clock.setTimeout(() => {
      if (kind === "freeze" && canFreeze) processes[who]?.freeze();
      else if (kind === "slow") {
        latencies[who] = { there: lasts * there, back: lasts * (1 - there) };
      } else latencies[who] = { there: 1_000, back: 0, isCut: true };
    }, at);
    clock.setTimeout(() => {
      latencies[who] = { there: 5, back: 5 };
      void processes[who]?.thaw();
    }, at + lasts);
  }
  await clock.pass(duration + 60_000);
  over.abort();
  await clock.pass(60_000);
  await outcome;
  if (violations.length > 0) throw new Error(violations[0]);
  return { terms, acts };
}

test("whatever freezes or slows down, two holders never work at once, and there is always a next holder", async () => {
  let terms = 0;
  await fc.assert(
    fc.asyncProperty(faults, async (all) => {
      const run = await simulate(all, careful);
      // Somebody works most of the time that is not lost to faults.
      expect(run.acts).toBeGreaterThan(100);
      terms += run.terms;
    }),
    { numRuns: 120, seed },
  );
  expect(terms).toBeGreaterThan(180);
});

test("without freezes, work that relies on its signal alone and stops within the margin is never overtaken", async () => {
  const property = fc.asyncProperty(faults, async (all) => {
    await simulate(all, slow, { canFreeze: false });
  });
  await fc.assert(property, { numRuns: 120, seed });
});

test("control: without a margin, the next holder starts while the last one still works", async () => {
  const property = fc.asyncProperty(faults, async (all) => {
    await simulate(all, slow, { canFreeze: false, margin: 1 });
  });
  const { failed, errorInstance } = await fc.check(property, {
    numRuns: 200,
    seed,
    endOnFailure: true,
  });
  expect([failed, String(errorInstance)]).toEqual([true, expect.stringContaining("has begun")]);
});

test("control: a frozen process that wakes up and relies on its signal alone works beside the next holder", async () => {
  const property = fc.asyncProperty(faults, async (all) => {
    await simulate(all, trusting);
  });
  const { failed, errorInstance } = await fc.check(property, {
    numRuns: 200,
    seed,
    endOnFailure: true,
  });
  expect([failed, String(errorInstance)]).toEqual([true, expect.stringContaining("has begun")]);
});
