import type { TestCluster } from "../cluster/create-test-cluster.ts";
import { apiServerPart } from "../cluster/network.ts";
import type { SeededRandom } from "../virtual-time/seeded-random.ts";

/** What goes wrong between the parts of a cluster, and for how long. */
export interface UnrestOptions {
  readonly cluster: TestCluster;
  readonly random: SeededRandom;
  /** The actors of the scenario. */
  readonly actors: readonly string[];
  /** Milliseconds of virtual time; after that all are connected again, and all clocks are right. */
  readonly lasts: number;
  /** Hears of each, in one line. */
  readonly note: (line: string) => void;
}

/** Milliseconds: how often something happens at most, and how long a partition takes at most. */
const often = 20_000;
const longest = 60_000;
/** By how much a date jumps at most. */
const farthest = 3_600_000;

/**
 * Repeatedly cuts random pairs of parts off from each other (actors, nodes, their agents and the API server),
 * and makes clocks jump. The same seed does the same.
 */
export function startUnrest({ cluster, random, actors, lasts, note }: UnrestOptions): void {
  const { clock, network, dates, nodes } = cluster;
  const hosts = nodes.map(({ name }) => name);
  const parts = [apiServerPart, ...actors, ...hosts, ...hosts.map((name) => `node agent ${name}`)];
  const dated = [...actors, ...hosts];
  const next = (): void => {
    clock.setTimeout(() => {
      if (clock.now() >= lasts) return;
      if (random.number() < 0.6) part();
      else jump();
      next();
    }, random.below(often));
  };
  const part = (): void => {
    const one = pick(random, parts);
    // Most partitions that matter are from the API server.
    const other = random.number() < 0.5 ? apiServerPart : pick(random, parts);
    const until = random.below(longest);
    if (one === other) return;
    network.cut(one, other);
    note(`${one} and ${other} are cut off from each other for ${until} ms`);
    clock.setTimeout(() => network.mend(one, other), until);
  };
  const jump = (): void => {
    const one = pick(random, dated);
    const by = random.below(2 * farthest) - farthest;
    dates.jump(one, by);
    note(`the date of ${one} jumps by ${by} ms`);
  };
  next();
  clock.setTimeout(() => {
    network.mendAll();
    dates.set();
    note("all are connected again, and all clocks are right");
  }, lasts);
}

function pick<T>(random: SeededRandom, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}
