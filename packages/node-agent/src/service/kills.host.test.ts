import { existsSync } from "node:fs";
import { until } from "@virtkit/api/clock";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KillWorld } from "../testing/kill-world.ts";
import { KilledAgent } from "../testing/killed-agent.ts";
import { guestFaults, type KnownGuests, knowGuests } from "../testing/known-guests.ts";
import { seams } from "./seams.ts";

/** One world for all of these tests, which run in this order: its guests boot once. */
let world: KillWorld;
let agent: KilledAgent;
let known: KnownGuests;
const memory: string[] = [];
/** Milliseconds from the start of an agent, whose code is loaded, until the statuses of both real guests are right. */
const recoveries: number[] = [];

/** A guard against hanging, not a measure: the machine may be busy. */
const patience = 300_000;

beforeAll(() => {
  world = new KillWorld();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  const ordered = recoveries.toSorted((a, b) => a - b).map((each) => each.toFixed(0));
  const [median, slowest] = [ordered[ordered.length >> 1], ordered.at(-1)];
  process.stdout.write(`RSS of a node agent with real guests: ${memory.join(", ")}
Restarted ${ordered.length} times, it had the statuses of both real guests right after ${median} ms (median), ${slowest} ms (slowest)\n`);
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
async function dieThrough(
  what: () => Promise<void>,
  survived: readonly string[] = [],
): Promise<readonly string[]> {
  const survive = [...survived];
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
  "a real guest is started once by agents that die during each part of its start",
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
  "the agent of 2 real and 8 simulated guests is killed after each of its actions and comes back, and no guest notices",
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
      const begun = performance.now();
      agent = world.start();
      await Promise.all([...world.real.keys()].map(untilRight));
      recoveries.push(performance.now() - begun);
      await settle();
      expect(await guestFaults(world, known), moment).toEqual([]);
    }
  },
  patience,
);

/** What every agent does when it starts, and what is not of volumes: other tests die there. */
const ofStarts = seams
  .filter((seam) => !/attachment|volume|dump|sync|write the/.test(seam))
  .map((seam) => `during "${seam}"`);

type Volumes = NonNullable<VirtualMachineInstance["status"]>["volumeStatus"];

async function untilPhases(name: string, wanted: Record<string, string>): Promise<void> {
  await world.untilVmi(name, JSON.stringify(wanted), ({ status }) =>
    Object.entries(wanted).every(
      ([volume, phase]) =>
        status?.volumeStatus?.find((each) => each.name === volume)?.phase === phase,
    ),
  );
}

test(
  "volumes are plugged in, a memory is dumped and volumes are unplugged by agents that die during each part of it: no guest notices",
  async () => {
    await agent.kill();
    const { pod, uid: attachPodUID } = await world.attach("real-2", "hp-1");
    const hotplugVolume = { attachPodName: "hp-1", attachPodUID };
    const attached = { target: "", phase: "AttachedToNode", hotplugVolume };
    const size = { capacity: { storage: "16Mi" }, volumeMode: "Filesystem" };
    await world.edit("real-2", ({ spec, status, ...vmi }) => {
      const devices = { ...spec.domain.devices, disks: [{ name: "data", disk: { bus: "scsi" } }] };
      const volumeStatus = [
        { name: "data", ...attached, persistentVolumeClaimInfo: { claimName: "data", ...size } },
        { name: "dump", ...attached, memoryDumpVolume: { claimName: "dump" } },
      ] as Volumes;
      const volumes = [
        { name: "data", persistentVolumeClaim: { claimName: "data", hotpluggable: true } },
        { name: "dump", memoryDump: { claimName: "dump", hotpluggable: true } },
      ];
      return {
        ...vmi,
        spec: { ...spec, domain: { ...spec.domain, devices }, volumes },
        status: { ...status, volumeStatus },
      };
    });
    const came = await dieThrough(
      () => untilPhases("real-2", { data: "Ready", dump: "MemoryDumpCompleted" }),
      ofStarts,
    );
    const ofComing = ["read the attachment Pod", "plug a volume", "sync the guest"];
    ofComing.push("write the record", "write the status", "dump the memory");
    expect(came).toEqual(expect.arrayContaining(ofComing.map((part) => `during "${part}"`)));
    expect(pod.dumps).toHaveLength(1);
    const launcher = world.real.get("real-2");
    expect(await launcher?.inGuest("cat /sys/block/sda/size")).toBe(String((16 << 20) / 512));
    await agent.kill();

    await world.edit("real-2", ({ spec, ...vmi }) => {
      const { volumes: _, ...rest } = spec;
      const devices = { ...spec.domain.devices, disks: [] };
      return { ...vmi, spec: { ...rest, domain: { ...spec.domain, devices } } };
    });
    const went = await dieThrough(
      () => untilPhases("real-2", { data: "UnMountedFromPod" }),
      ofStarts,
    );
    const ofGoing = ["sync the guest", "unplug a volume", "write the record", "write the status"];
    expect(went).toEqual(expect.arrayContaining(ofGoing.map((part) => `during "${part}"`)));
    expect(await launcher?.inGuest("ls /sys/block | grep -c sd || true")).toBe("0");
    // What is in the launcher's own mounts, whatever the journal says.
    expect(launcher?.plugged).toEqual([]);

    // The dump has paused its guest for a moment; that is all that has become of it, and nothing has of the others.
    const since = await knowGuests(world);
    const same = (guests: KnownGuests): string[] =>
      [...guests].map(([name, look]) => `${name} ${look.replace(/, was .*/, "")}`);
    expect(same(since)).toEqual(same(known));
    expect(since.get("real-1")).toBe(known.get("real-1"));
    const history = known.get("real-2") ?? "";
    expect(since.get("real-2")?.startsWith(history)).toBe(true);
    expect(since.get("real-2")?.slice(history.length)).toMatch(/^(, Paused, Running)*$/);
    known = since;
    expect(await guestFaults(world, known)).toEqual([]);
  },
  patience,
);

test("without its state directory it adopts no guest that it cannot prove, and says so; with it, all is right again", async () => {
  await agent.kill();
  const lost = `${world.stateDirectory}-lost`;
  agent = world.start({ stateDirectory: lost });
  for (const name of world.real.keys()) {
    await world.untilVmi(name, "told", ({ status }) =>
      (status?.conditions ?? []).some(
        ({ type, message = "" }) =>
          type === "Synchronized" &&
          /this agent has no record of it; it is left alone/.test(message),
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
  "a real guest is ended in order by agents that die during each part of its end, and nothing else ends",
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

test("control: an agent that ends guests without a record is caught", async () => {
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
