import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeGrant, grantAnnotation } from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import type { DomainStatus } from "@virtkit/domain-manager";
import { expect, test } from "vitest";
import { AgentWorld } from "../testing/agent-world.ts";
import { podResource } from "./launcher-pods.ts";
import { measuredGuests, servedGuests } from "./served-guests.ts";

const names = namesOf();
const [second, minute] = [1_000, 60_000];

async function synchronized(world: AgentWorld, name: string): Promise<string | undefined> {
  const vmi = await world.vmi(name);
  return vmi?.status?.conditions?.find(({ type }) => type === "Synchronized")?.message;
}

async function phase(world: AgentWorld, name: string): Promise<string | undefined> {
  return (await world.vmi(name))?.status?.phase;
}

/** What the agent has written of VMIs. */
function writes(world: AgentWorld): number {
  return world.server
    .writes()
    .filter(({ actor, resource }) => actor === "agent" && resource === "virtualmachineinstances")
    .length;
}

test("a VMI of this node is claimed, started once, and its status reported in three writes", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a", {
    domain: { devices: { interfaces: [{ name: "default", masquerade: {} }] } },
    networks: [{ name: "default", pod: {} }],
  } as never);
  world.start();
  await world.clock.pass(minute);
  const vmi = await world.vmi("a");
  expect(vmi?.status).toMatchObject({ phase: "Running", migrationMethod: "LiveMigration" });
  expect(vmi?.status?.interfaces).toMatchObject([{ name: "default", ipAddress: "10.1.0.5" }]);
  expect(vmi?.status?.conditions?.map(({ type }) => type).sort()).toEqual([
    ...["AgentConnected", "LiveMigratable", "StorageLiveMigratable"],
  ]);
  expect(launcher.calls.filter((call) => call === "syncVmi")).toHaveLength(1);
  expect(launcher.starts).toBe(1);
  const { podUid: podUID, containerID } = launcher.container;
  const holder = { podUID, containerID, node: "node01", machineID: "machine-1", bootID: "boot-1" };
  expect(await world.grant("a")).toMatchObject({ state: "Claimed", holder });
  // The claim, that it runs, and its agent.
  expect(writes(world)).toBe(3);
  const before = writes(world);
  await world.clock.pass(60 * minute);
  expect(writes(world)).toBe(before);
});

test("a VMI that has not changed for a long time is claimed after a younger one", async () => {
  await using world = new AgentWorld();
  const old = await world.schedule("old");
  old.answers = false;
  await world.schedule("young");
  world.start();
  await world.clock.pass(10 * second);
  expect(await phase(world, "young")).toBe("Running");
  old.answers = true;
  await world.clock.pass(minute);
  expect(await phase(world, "old")).toBe("Running");
  // Three each, as undisturbed: no claim was refused in between.
  expect(writes(world)).toBe(6);
});

test("claims nothing from an API server that was restored from a backup, until a person confirms it", async () => {
  await using world = new AgentWorld();
  const mark = join(world.stateDirectory, "highest-version");
  writeFileSync(mark, "1000000000");
  const launcher = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  expect(await synchronized(world, "a")).toContain("restored from a backup");
  expect(launcher.starts).toBe(0);
  world.stop();
  rmSync(mark);
  world.start();
  await world.clock.pass(10 * minute);
  expect(launcher.starts).toBe(1);
});

test("a deleted VMI is asked to shut down, then forgotten, cleaned up, and its grant ended by proof", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  await world.delete("a");
  await world.clock.pass(minute);
  expect(launcher.calls).not.toContain("kill");
  expect(launcher.calls.slice(-2)).toEqual(["shutdown", "delete"]);
  expect(await phase(world, "a")).toBe("Succeeded");
  expect(world.cleaned).toContain(launcher.container.podUid);
  expect(await world.grant("a")).toMatchObject({ state: "Ended" });
});

test("a guest that does not shut down is killed after its grace period, which continues across an agent restart", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  launcher.guest.shutdown = async () => {};
  await world.delete("a");
  await world.clock.pass(20 * second);
  world.stop();
  world.start();
  await world.clock.pass(9 * second);
  expect(launcher.isRunning).toBe(true);
  await world.clock.pass(10 * second);
  expect(launcher.calls).toContain("kill");
  expect(launcher.isRunning).toBe(false);
});

test("an agent that dies before it reports that a guest was killed reports the same when it comes back", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  launcher.guest.shutdown = async () => {};
  world.start();
  await world.clock.pass(minute);
  world.stop();
  world.start(async (seam) => {
    const isOver = launcher.calls.includes("delete");
    if (isOver && seam === "write the status") await new Promise(() => {});
  });
  await world.delete("a");
  await world.clock.pass(minute);
  expect([await phase(world, "a"), launcher.hasEnded]).toEqual(["Running", true]);
  world.stop();
  world.start();
  await world.clock.pass(minute);
  expect(await phase(world, "a")).toBe("Failed");
});

test("a launcher that falls silent is reported in a condition; its guest is left alone, and resumed when it answers", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  launcher.answers = false;
  launcher.disconnect();
  await world.clock.pass(30 * second);
  expect(await synchronized(world, "a")).toBe(undefined);
  await world.clock.pass(10 * minute);
  expect(await synchronized(world, "a")).toContain("does not answer");
  expect(await phase(world, "a")).toBe("Running");
  await world.delete("a");
  await world.clock.pass(10 * minute);
  expect(launcher.isRunning).toBe(true);
  launcher.answers = true;
  await world.clock.pass(10 * minute);
  expect(launcher.isRunning).toBe(false);
});

test("a launcher that hangs with its connection open is reported as silent; nothing is ended, and it is heard again", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  launcher.answers = false;
  await world.clock.pass(minute + 20 * second);
  expect(await synchronized(world, "a")).toContain("neither reported nor answered for 65 s");
  await world.delete("a");
  await world.clock.pass(10 * minute);
  expect([await phase(world, "a"), launcher.isRunning]).toEqual(["Running", true]);
  expect(launcher.calls.filter((call) => ["kill", "shutdown"].includes(call))).toEqual([]);
  launcher.answers = true;
  await world.clock.pass(minute);
  expect([await phase(world, "a"), launcher.isRunning]).toEqual(["Succeeded", false]);
});

test("a guest at rest costs one ping in a minute, and one that reports none", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  await world.clock.pass(60 * minute);
  expect(launcher.pings).toBe(60);
  for (let at = 0; at < 20; at++) {
    launcher.guest.happen(at % 2 === 0 ? { kind: "agent-lost" } : { kind: "agent-started" });
    await world.clock.pass(30 * second);
  }
  expect([launcher.pings, await synchronized(world, "a")]).toEqual([60, undefined]);
});

test("the end of a launcher's process is proof: one write fails the VMI and ends its grant", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  const before = writes(world);
  launcher.end();
  await world.clock.pass(minute);
  expect(await phase(world, "a")).toBe("Failed");
  expect(await world.grant("a")).toMatchObject({ state: "Ended" });
  expect(writes(world) - before).toBe(1);
});

test("a VMI whose grant has ended has failed, even for an agent without a record of it", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  world.stop();
  world.loseState();
  launcher.end();
  const vmiUID = launcher.vmiUid;
  const ended = encodeGrant({ state: "Ended", vmiUID, epoch: 1, seq: 3 });
  await world.change("a", (vmi) => {
    const annotations = { ...vmi.metadata?.annotations, [names.own(grantAnnotation)]: ended };
    return { ...vmi, metadata: { ...vmi.metadata, annotations } };
  });
  world.start();
  await world.clock.pass(minute);
  expect(await phase(world, "a")).toBe("Failed");
});

test.each(["Error", "ContainerStatusUnknown"])(
  "a VMI whose launcher ended before anybody claimed it (%s) has failed",
  async (reason) => {
    await using world = new AgentWorld();
    const launcher = await world.schedule("a");
    launcher.end();
    world.start();
    await world.clock.pass(minute);
    // The kubelet has not reported it yet, and may still start another container.
    expect(await phase(world, "a")).toBe("Scheduled");
    const { containerID } = launcher.container;
    const state = { terminated: { exitCode: 1, reason, containerID } };
    const containerStatuses = [{ name: "compute", containerID, state }];
    await world.client.patch(
      podResource,
      { namespace: "default", name: "virt-launcher-a" },
      { type: "merge", body: { status: { phase: "Failed", containerStatuses } } },
      { subresource: "status" },
    );
    await world.clock.pass(minute);
    expect(await phase(world, "a")).toBe("Failed");
    expect(launcher.starts).toBe(0);
  },
);

test("without its state directory an agent adopts nothing that it cannot prove, and says so", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  world.stop();
  world.loseState();
  launcher.isPrepared = false;
  const before = launcher.calls.length;
  world.start();
  await world.clock.pass(10 * minute);
  expect(launcher.isRunning).toBe(true);
  // Neither is its sandbox touched, nor is it on record.
  expect([launcher.isPrepared, readdirSync(world.stateDirectory)]).toEqual([false, []]);
  expect(launcher.calls.slice(before).filter((call) => call !== "status")).toEqual([]);
  expect(await phase(world, "a")).toBe("Running");
  expect(await synchronized(world, "a")).toMatch(/has no record of it; it is left alone/);
});

test("a container recreated for the same Pod does not start a second copy", async () => {
  await using world = new AgentWorld();
  const first = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  const { podUid } = first.container;
  const second = await world.startContainer("virt-launcher-a", "a", first.vmiUid, podUid);
  await world.clock.pass(10 * minute);
  expect([first.isRunning, second.starts]).toEqual([true, 0]);
  first.end();
  await world.clock.pass(10 * minute);
  expect(second.starts).toBe(0);
  expect(await world.grant("a")).toMatchObject({ state: "Ended" });
  expect(await phase(world, "a")).toBe("Failed");
});

test("the guest of an older VMI with the same name is ended by its UID, after a live read", async () => {
  await using world = new AgentWorld();
  const older = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  world.stop();
  // While no agent looks, somebody strips the finalizer and makes the VMI anew.
  await world.change("a", (vmi) => ({ ...vmi, metadata: { ...vmi.metadata, finalizers: [] } }));
  await world.delete("a");
  await world.client.delete(
    podResource,
    { namespace: "default", name: "virt-launcher-a" },
    { gracePeriodSeconds: 0 },
  );
  expect(older.isRunning).toBe(true);
  const newer = await world.schedule("a");
  world.start();
  await world.clock.pass(5 * minute);
  expect(older.isRunning).toBe(false);
  expect(newer.isRunning).toBe(true);
  expect(newer.calls).not.toContain("kill");
});

test("failing to clean up after an ended guest does not block the next VMI with its name", async () => {
  await using world = new AgentWorld();
  const older = await world.schedule("a");
  world.uncleanable.add(older.container.podUid);
  world.start();
  await world.clock.pass(minute);
  await world.change("a", (vmi) => ({ ...vmi, metadata: { ...vmi.metadata, finalizers: [] } }));
  await world.delete("a");
  const podName = { namespace: "default", name: "virt-launcher-a" };
  await world.client.delete(podResource, podName, { gracePeriodSeconds: 0 });
  older.end();
  const newer = await world.schedule("a");
  await world.clock.pass(minute);
  expect(world.cleaned).toEqual([]);
  expect(newer.isRunning).toBe(true);
  // It is retried all the while.
  world.uncleanable.clear();
  await world.clock.pass(30 * minute);
  expect(world.cleaned).toEqual([older.container.podUid]);
});

test("an empty cache is not absence: a VMI that lost its label keeps its guest", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  await world.change("a", (vmi) => ({ ...vmi, metadata: { ...vmi.metadata, labels: {} } }));
  await world.clock.pass(10 * minute);
  expect(launcher.isRunning).toBe(true);
  expect(launcher.calls).not.toContain("shutdown");
});

test("nothing is claimed while the Node object names another boot", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  world.start(undefined, { identity: { machineID: "machine-1", bootID: "boot-2" } });
  await world.clock.pass(minute);
  expect(launcher.starts).toBe(0);
  expect(await world.grant("a")).toMatchObject({ state: "Granted" });
  expect(await synchronized(world, "a")).toContain("boot-2");
});

test("an agent in another boot ends the grant of the boot that its record names", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  world.stop();
  launcher.end();
  world.start(undefined, { identity: { machineID: "machine-1", bootID: "boot-2" } });
  await world.clock.pass(minute);
  expect(await phase(world, "a")).toBe("Failed");
  expect(await world.grant("a")).toMatchObject({ state: "Ended" });
});

test("a record of an earlier release, which names no boot, is of this boot", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  world.stop();
  const file = join(world.stateDirectory, "guests", `${launcher.container.podUid}.json`);
  const { bootID, ...earlier } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  expect(bootID).toBe("boot-1");
  writeFileSync(file, JSON.stringify(earlier));
  const agent = world.start();
  await world.clock.pass(minute);
  const { signal } = new AbortController();
  const mayRun = await servedGuests(agent)("default", "a")?.mayRun({ signal });
  expect(mayRun?.grant.podUid).toBe(launcher.container.podUid);
  expect(await synchronized(world, "a")).toBe(undefined);
});

test("what a guest reports is truncated before it is stored", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  const { guest } = launcher;
  const long = "x".repeat(100_000);
  const tell = guest.events.bind(guest);
  guest.events = async function* (options) {
    for await (const event of tell(options)) {
      if (event.kind !== "status") yield event;
      else yield { ...event, status: swollen(event.status, long) };
    }
  };
  world.start();
  await world.clock.pass(minute);
  const status = (await world.vmi("a"))?.status;
  expect(status?.phase).toBe("Running");
  expect(status?.guestOSInfo?.name).toHaveLength(256);
  expect(status?.interfaces?.length).toBeLessThanOrEqual(64);
  expect(JSON.stringify(status).length).toBeLessThan(100_000);
});

function swollen(status: DomainStatus, long: string): DomainStatus {
  const mac = (at: number): string => `02:00:00:00:${Math.floor(at / 100)}:${at % 100}`;
  const ips = Array.from({ length: 1_000 }, () => "10.0.0.1");
  const interfaces = Array.from({ length: 500 }, (_, at) => ({
    mac: mac(at),
    ips,
    interfaceName: "e",
  }));
  return { ...status, os: { name: long }, interfaces };
}

/** A launcher that never answers anything, and one of a neighbour that does. */
async function besideHostile(concurrency?: number): Promise<string | undefined> {
  await using world = new AgentWorld();
  const hostile = await Promise.all(["h1", "h2", "h3"].map((name) => world.schedule(name)));
  for (const { guest } of hostile) guest.syncVmi = () => new Promise(() => {});
  world.start(undefined, concurrency === undefined ? {} : { concurrency });
  await world.clock.pass(10 * second);
  await world.schedule("a");
  await world.clock.pass(20 * second);
  return await phase(world, "a");
}

test("launchers that never answer block no other VMI", async () => {
  expect(await besideHostile()).toBe("Running");
  // The control: an agent with few hands is stalled by the same launchers.
  expect(await besideHostile(3)).toBe("Scheduled");
});

test("a launcher that reports constantly does not keep the API server busy", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  const before = writes(world);
  const { guest } = launcher;
  for (let at = 0; at < 200; at++) {
    guest.happen(at % 2 === 0 ? { kind: "agent-lost" } : { kind: "agent-started" });
    await world.clock.pass(50);
  }
  await world.clock.pass(minute);
  // Ten seconds of it, and at most two passes a second.
  expect(writes(world) - before).toBeLessThanOrEqual(22);
});

test("of a launcher that reports endlessly, its agent takes in only so much, and hears it again", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  const { guest } = launcher;
  let taken = 0;
  const tell = guest.events.bind(guest);
  guest.events = async function* (options) {
    for await (const event of tell(options)) {
      yield event;
      while (!options?.signal?.aborted && taken < 100_000) {
        taken++;
        yield { kind: "resync", at: event.at } as const;
      }
    }
  };
  world.start();
  await world.clock.pass(minute);
  expect(taken).toBeGreaterThan(300);
  expect(taken).toBeLessThan(256 + 60 * 17);
  expect(await phase(world, "a")).toBe("Running");
});

test("servers of guests find them by name, with the claim under which they run", async () => {
  await using world = new AgentWorld();
  const launcher = await world.schedule("a");
  world.start();
  await world.clock.pass(minute);
  world.stop();
  // An agent that has come back has not claimed itself, and has the claim of the one before.
  const agent = world.start();
  await world.clock.pass(minute);
  const find = servedGuests(agent);
  expect(find("default", "b")).toBe(undefined);
  const { signal } = new AbortController();
  const mayRun = await find("default", "a")?.mayRun({ signal });
  expect(mayRun?.grant).toEqual({
    vmiUid: launcher.vmiUid,
    podUid: launcher.container.podUid,
    epoch: 1,
  });
  expect(measuredGuests(agent)).toHaveLength(1);
  launcher.answers = false;
  launcher.disconnect();
  await world.clock.pass(second);
  await expect(find("default", "a")?.launcher({ signal })).rejects.toMatchObject({
    code: "AGENT_LAUNCHER",
  });
  expect(measuredGuests(agent)).toEqual([]);
});
