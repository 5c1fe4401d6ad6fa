import { existsSync } from "node:fs";
import { until } from "@virtkit/api/clock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KillWorld } from "../testing/kill-world.ts";
import { KilledAgent } from "../testing/killed-agent.ts";
import { guestFaults, type KnownGuests, knowGuests } from "../testing/known-guests.ts";

/** One world for all of these tests, which run in this order: its guests boot once. */
let world: KillWorld;
let agent: KilledAgent;
let known: KnownGuests;
const memory: string[] = [];

/** A guard against hanging, not a measure: the machine may be busy. */
const patience = 300_000;

beforeAll(() => {
  world = new KillWorld();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  process.stdout.write(`RSS of a node agent with real guests: ${memory.join(", ")}\n`);
});

/** Takes out of the status of real guests what only an agent that has heard them can put in. */
async function spoil(): Promise<void> {
  for (const name of world.real.keys()) {
    await world.changeStatus(name, ({ conditions = [], interfaces: _, ...status }) => ({
      ...status,
      conditions: conditions.filter(({ type }) => type !== "AgentConnected"),
    }));
  }
}

/** An agent has heard a real guest: its status has the address. */
async function untilHeard(name: string): Promise<void> {
  await world.untilVmi(
    name,
    "Running with its address",
    ({ status }) =>
      status?.phase === "Running" && status.interfaces?.[0]?.ipAddress === "10.244.7.2",
  );
}

/** All of the status of a real guest is right. */
async function untilRight(name: string): Promise<void> {
  await untilHeard(name);
  await world.untilVmi(name, "right", ({ status }) => {
    const conditions = new Map((status?.conditions ?? []).map((each) => [each.type, each.status]));
    return conditions.get("AgentConnected") === "True" && !conditions.has("Synchronized");
  });
}

async function untilDead(dying: KilledAgent, moment: string): Promise<void> {
  const isDead = await until(() => !dying.isAlive, { interval: 10, timeout: 60_000 });
  if (!isDead) throw new Error(`the agent has not come to ${moment}: ${dying.moments.join(", ")}`);
}

/** One agent after the other dies during the first thing that none has died at, until what is waited for has come. */
async function dieThrough(what: () => Promise<void>): Promise<readonly string[]> {
  const survive: string[] = [];
  const done = what();
  for (;;) {
    agent = world.start({ survive });
    await Promise.race([done, agent.exited]);
    const last = agent.moments.find((each) => each.startsWith("during") && !survive.includes(each));
    // Nothing is left to die at: what is waited for has come.
    if (last === undefined) return survive;
    await untilDead(agent, last);
    survive.push(last);
  }
}

/** With the flags of the program. It is killed in the end, as all are. */
async function measure(guests: string): Promise<void> {
  await spoil();
  agent = world.start({}, new KilledAgent({ isLean: true }));
  await until(() => agent.moments.includes('after "take the lock"'), { interval: 20 });
  for (const name of world.real.keys()) await untilHeard(name);
  memory.push(`${guests} ${agent.memory.toFixed(1)} MiB`);
  await agent.kill();
}

test(
  "a real guest is started by agents that die during each part of its start: once",
  async () => {
    await measure("none");
    const launcher = await world.scheduleReal("real-1");
    const died = await dieThrough(() => untilHeard("real-1"));
    await agent.kill();
    const parts = ["take the lock", "connect to the launcher", "prepare the sandbox"];
    parts.push("read the Node", "write the record", "read the grant", "note the version");
    parts.push("swap the grant", "sync the guest", "write the status");
    expect(died).toEqual(expect.arrayContaining(parts.map((part) => `during "${part}"`)));
    expect([launcher.starts, launcher.guests.length]).toEqual([1, 1]);
    await measure("1");
    await world.scheduleReal("real-2");
    await measure("2, one of which it has just started,");
    await measure("2");
  },
  patience,
);

/** Simulated guests that run all the time; two more come and go. */
const steady = ["s1", "s2", "s3", "s4", "s5", "s6"];
let turn = 0;

/** One more simulated guest is to start, and the one before it is to end. */
async function stir(): Promise<void> {
  await world.scheduleSimulated(`turn-${++turn}`);
  if (turn > 1) await world.delete(`turn-${turn - 1}`);
}

/** The agent has let go of what has ended. */
async function untilRecords(running: number): Promise<void> {
  await until(() => world.records === running, { interval: 10, timeout: 60_000 });
  expect(world.records).toBe(running);
}

/** Everything is as it should be: what runs, what was to start and what was to end. */
async function settle(): Promise<void> {
  for (const name of world.real.keys()) await untilRight(name);
  for (const name of [...steady, `turn-${turn}`]) {
    await world.untilVmi(name, "Running", ({ status }) => status?.phase === "Running");
  }
  const ended = `turn-${turn - 1}`;
  if (!world.simulated.has(ended)) return;
  await world.untilVmi(ended, "Succeeded", ({ status }) => status?.phase === "Succeeded");
  await untilRecords(world.real.size + steady.length + 1);
  await world.release(ended);
}

/**
 * What is before a seam is after the one before it; the table of the simulated world has both. A launcher may end before it
 * has answered that its domain is gone, and an agent asks for a status when it likes: they are not among these.
 */
const alwaysMet = [
  ...["take the lock", "connect to the launcher", "prepare the sandbox", "read the Node"],
  ...["write the record", "read the grant", "note the version", "swap the grant"],
  ...["sync the guest", "write the status", "shut the guest down", "clean up"],
  "remove the record",
].map((seam) => `after "${seam}"`);

test(
  "the agent of 2 real and 8 simulated guests is killed after each thing that it does, and comes back: no guest notices",
  async () => {
    for (const name of steady) await world.scheduleSimulated(name);
    await stir();
    agent = world.start();
    await settle();
    known = await knowGuests(world);
    await stir();
    await settle();
    expect(agent.moments).toEqual(expect.arrayContaining(alwaysMet));
    for (const moment of alwaysMet) {
      // Some things it does once in its life.
      if (/take the lock|read the Node/.test(moment)) {
        await agent.kill();
        agent = world.start({ dieAt: moment });
      } else {
        agent.dieAt(moment);
      }
      await stir();
      await untilDead(agent, moment);
      await spoil();
      agent = world.start();
      await settle();
      expect(await guestFaults(world, known), moment).toEqual([]);
    }
  },
  patience,
);

test("without its state directory it adopts no guest that it cannot prove, and says so; with it all is right again", async () => {
  await agent.kill();
  const lost = `${world.stateDirectory}-lost`;
  agent = world.start({ stateDirectory: lost });
  for (const name of world.real.keys()) {
    await world.untilVmi(name, "told", ({ status }) =>
      (status?.conditions ?? []).some(
        ({ type, message = "" }) =>
          type === "Synchronized" &&
          /this agent has no record of it; it is left as it is/.test(message),
      ),
    );
  }
  expect(existsSync(`${lost}/guests`)).toBe(false);
  expect(agent.moments.filter((moment) => /prepare|sync|swap|kill|shut/.test(moment))).toEqual([]);
  expect(await guestFaults(world, known)).toEqual([]);
  await agent.kill();
  await spoil();
  agent = world.start();
  await settle();
  expect(await guestFaults(world, known)).toEqual([]);
});

test(
  "a real guest is ended by agents that die during each part of its end: in order, and nothing else ends",
  async () => {
    await agent.kill();
    const ending = world.real.get("real-1");
    await world.delete("real-1");
    const died = await dieThrough(async () => {
      await world.untilVmi("real-1", "Succeeded", ({ status }) => status?.phase === "Succeeded");
      await untilRecords(steady.length + 2);
    });
    const parts = ["shut the guest down", "delete the domain", "clean up", "remove the record"];
    expect(died).toEqual(expect.arrayContaining(parts.map((part) => `during "${part}"`)));
    expect([ending?.starts, ending?.guests, ending?.hasEnded]).toEqual([1, [], true]);
    expect(ending?.states).toContain("Shutoff");
    expect(ending?.reasons).toContain("Shutdown");
    expect(ending?.reasons).not.toContain("Destroyed");
    const others = new Map([...known].filter(([name]) => name !== "real-1"));
    expect(await guestFaults(world, others)).toEqual([]);
  },
  patience,
);

test("control: an agent that ends what it has no record of is found out", async () => {
  await agent.kill();
  agent = world.start({ stateDirectory: `${world.stateDirectory}-other`, endsTheUnknown: true });
  await until(() => agent.moments.length > 0, { interval: 20 });
  const others = new Map([...known].filter(([name]) => name !== "real-1"));
  expect(await guestFaults(world, others)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^real-2 does not run; before: boot .* started 1 times/),
      "s1 was killed",
    ]),
  );
});
