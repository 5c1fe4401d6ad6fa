import { describe, expect, test } from "vitest";
import { type Fault, FaultWorld } from "./testing/fault-world.ts";

/** What is done to a VMI, and how many guests and Pods there must be in the end. */
interface Scenario {
  play(world: FaultWorld): Promise<void>;
  readonly guests: number;
}

async function stop(world: FaultWorld): Promise<void> {
  world.isWanted = false;
  world.remove();
  await world.settle();
}

const scenarios: Readonly<Record<string, Scenario>> = {
  start: { play: (world) => world.settle(), guests: 1 },
  stop: {
    play: async (world) => {
      await world.settle();
      await stop(world);
    },
    guests: 0,
  },
  "a deletion while it starts": {
    play: async (world) => {
      await world.round();
      await stop(world);
    },
    guests: 0,
  },
  restart: {
    play: async (world) => {
      await world.settle();
      world.remove();
      await world.settle();
    },
    guests: 1,
  },
  "restart of a guest with a persistent TPM": {
    play: async (world) => {
      world.hasTpm = true;
      await world.settle();
      world.remove();
      await world.settle();
    },
    guests: 1,
  },
  "a crash, and a restart": {
    play: async (world) => {
      await world.settle();
      world.crash();
      await world.settle();
      world.remove();
      await world.settle();
    },
    guests: 1,
  },
  "a lost node, and the Pod removed by force": {
    play: async (world) => {
      await world.settle();
      world.isolate();
      world.stripPods();
      await world.settle();
      world.remove();
      await world.settle();
      world.reboot();
      await world.settle();
    },
    guests: 1,
  },
  "a lost node, and the VMI removed by force": {
    play: async (world) => {
      await world.settle();
      world.isolate();
      world.stripVmi();
      await world.settle();
      world.reboot();
      await world.settle();
    },
    guests: 1,
  },
  "a lost node, and both removed by force": {
    play: async (world) => {
      await world.settle();
      world.isolate();
      world.stripVmi();
      world.stripPods();
      await world.settle();
      world.reboot();
      await world.settle();
    },
    guests: 1,
  },
};

async function run({ play, guests }: Scenario, fault: Fault): Promise<string[]> {
  const world = new FaultWorld(fault);
  await play(world);
  const { problems, running, cluster } = world;
  if (running.size !== guests) problems.push(`${running.size} guests run at the end`);
  const pods = cluster.all("pods").length;
  if (pods !== guests) problems.push(`${pods} Pods are left at the end`);
  return problems.map((problem) => `${fault.kind} at ${fault.at}: ${problem}`);
}

const kinds = ["refused", "lost", "late", "crash", "stale"] as const;

describe("at most one copy, and the wanted state once faults stop", { timeout: 120_000 }, () => {
  test.each(Object.keys(scenarios))(
    "%s, with every fault at every write and look",
    async (name) => {
      const scenario = scenarios[name];
      if (!scenario) throw new Error(name);
      const calm = new FaultWorld({ kind: "none", at: 0 });
      await scenario.play(calm);
      expect(calm.problems).toEqual([]);
      expect(calm.writes).toBeGreaterThan(3);
      const found: string[] = [];
      for (const kind of kinds) {
        for (let at = 1; at <= calm.writes + 2; at++)
          found.push(...(await run(scenario, { kind, at })));
      }
      expect(found).toEqual([]);
    },
  );
});

describe("control: a phase that goes back is a problem", () => {
  test.each([
    ["Scheduled", "the phase went from Running to Scheduled"],
    ["Pending", "the phase went from Running to Pending"],
  ] as const)("to %s", async (phase, problem) => {
    const world = new FaultWorld({ kind: "none", at: 0 });
    await world.settle();
    world.writePhase(phase);
    await world.round();
    expect(world.problems[0]).toBe(problem);
  });

  test("from an end", async () => {
    const world = new FaultWorld({ kind: "none", at: 0 });
    await world.settle();
    world.crash();
    await world.settle();
    world.writePhase("Running");
    await world.round();
    expect(world.problems[0]).toBe("the phase went from Succeeded to Running");
  });
});
