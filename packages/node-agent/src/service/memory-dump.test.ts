import type { VirtualMachineInstance, VolumeStatus } from "@virtkit/api/schema";
import { DomainManagerError } from "@virtkit/domain-manager";
import { expect, test } from "vitest";
import { AgentWorld, type WorldLauncher } from "../testing/agent-world.ts";

const aWhile = 10_000;

/** A guest that runs, and a volume in its sandbox that a controller wants its memory on. */
async function dumpingWorld(dump = 1_000): Promise<{ world: AgentWorld; launcher: WorldLauncher }> {
  const world = new AgentWorld();
  world.script = { ...world.script, dump };
  const launcher = await world.schedule("vm");
  world.start();
  await world.clock.pass(aWhile);
  launcher.plugged.add("dump");
  return { world, launcher };
}

async function askForDump(world: AgentWorld): Promise<void> {
  const claim = { claimName: "dump", hotpluggable: true };
  await world.change("vm", (object) => {
    const vmi = object as unknown as VirtualMachineInstance;
    return {
      ...vmi,
      spec: { ...vmi.spec, volumes: [{ name: "dump", memoryDump: claim }] },
      status: {
        ...vmi.status,
        volumeStatus: [
          {
            ...{ name: "dump", target: "", phase: "MountedToPod" },
            hotplugVolume: { attachPodName: "hp-1", attachPodUID: "1" },
            memoryDumpVolume: { claimName: "dump" },
          },
        ],
      },
    };
  });
}

async function volume(world: AgentWorld): Promise<VolumeStatus | undefined> {
  return (await world.vmi("vm"))?.status?.volumeStatus?.[0];
}

const dumps = ({ calls }: WorldLauncher): number =>
  calls.filter((call) => call === "memoryDump").length;
const times = { startTimestamp: expect.any(String), endTimestamp: expect.any(String) };

test("the memory is written once, and the volume's status names the file and when it was written", async () => {
  const { world, launcher } = await dumpingWorld();
  await using _ = world;
  await askForDump(world);
  await world.clock.pass(aWhile);
  expect(await volume(world)).toMatchObject({
    phase: "MemoryDumpCompleted",
    memoryDumpVolume: {
      targetFileName: expect.stringMatching(/^vm-dump-.*\.memory\.dump$/),
      ...times,
    },
  });
  await world.clock.pass(aWhile);
  expect(dumps(launcher)).toBe(1);
});

test("a dump that the launcher refuses has failed, with its reason, and is not tried again", async () => {
  const { world, launcher } = await dumpingWorld();
  await using _ = world;
  launcher.guest.memoryDump = async () => {
    throw new DomainManagerError("DOMAIN_LIBVIRT", "no space left on the volume");
  };
  await askForDump(world);
  await world.clock.pass(3 * aWhile);
  expect(await volume(world)).toMatchObject({
    phase: "MemoryDumpFailed",
    message: expect.stringMatching(/no space left on the volume$/),
    memoryDumpVolume: times,
  });
  expect(dumps(launcher)).toBe(1);
});

test("an agent that dies before it has reported that the memory is written does not pause the guest again for it", async () => {
  const { world, launcher } = await dumpingWorld();
  await using _ = world;
  world.stop();
  let isWritten = false;
  world.start((seam, when) => {
    if (seam === "dump the memory" && when === "after") isWritten = true;
    // What follows the record of it is the status.
    if (isWritten && seam === "write the status") return new Promise(() => {});
  });
  await askForDump(world);
  await world.clock.pass(aWhile);
  expect([isWritten, (await volume(world))?.phase]).toEqual([true, "MemoryDumpInProgress"]);
  world.stop();
  world.start();
  await world.clock.pass(aWhile);
  expect((await volume(world))?.phase).toBe("MemoryDumpCompleted");
  expect(dumps(launcher)).toBe(1);
});

/** A dump of a large guest: longer than a pass may take. */
const slowDump = 400_000;

test("a dump that takes longer than a pass is made once, and completes", async () => {
  const { world, launcher } = await dumpingWorld(slowDump);
  await using _ = world;
  await askForDump(world);
  await world.clock.pass(slowDump - aWhile);
  expect((await volume(world))?.phase).toBe("MemoryDumpInProgress");
  await world.clock.pass(2 * aWhile);
  expect((await volume(world))?.phase).toBe("MemoryDumpCompleted");
  expect([dumps(launcher), launcher.guest.dumps.length, launcher.isRunning]).toEqual([1, 1, true]);
  const { startTimestamp = "", endTimestamp = "" } = (await volume(world))?.memoryDumpVolume ?? {};
  expect(Date.parse(endTimestamp) - Date.parse(startTimestamp)).toBe(slowDump);
});

test("an agent that was killed during a dump joins it when it comes back", async () => {
  const { world, launcher } = await dumpingWorld(slowDump);
  await using _ = world;
  await askForDump(world);
  await world.clock.pass(60_000);
  world.stop();
  await world.clock.pass(aWhile);
  world.start();
  await world.clock.pass(slowDump);
  expect((await volume(world))?.phase).toBe("MemoryDumpCompleted");
  expect([dumps(launcher), launcher.guest.dumps.length]).toEqual([2, 1]);
});

test("an agent that is away when a dump ends reports it when it comes back", async () => {
  const { world, launcher } = await dumpingWorld(slowDump);
  await using _ = world;
  await askForDump(world);
  await world.clock.pass(60_000);
  world.stop();
  await world.clock.pass(slowDump);
  world.start();
  await world.clock.pass(aWhile);
  expect((await volume(world))?.phase).toBe("MemoryDumpCompleted");
  expect(launcher.guest.dumps).toHaveLength(1);
});

test("a dump of a launcher whose connection breaks meanwhile has not failed", async () => {
  const { world, launcher } = await dumpingWorld(slowDump);
  await using _ = world;
  await askForDump(world);
  await world.clock.pass(60_000);
  launcher.disconnect();
  await world.clock.pass(aWhile);
  const conditions = (await world.vmi("vm"))?.status?.conditions ?? [];
  expect(conditions.filter(({ type }) => type === "Synchronized")).toEqual([]);
  await world.clock.pass(slowDump);
  expect((await volume(world))?.phase).toBe("MemoryDumpCompleted");
  expect(launcher.guest.dumps).toHaveLength(1);
});

test("a guest whose VMI is deleted during a dump ends without waiting for it", async () => {
  const { world, launcher } = await dumpingWorld(slowDump);
  await using _ = world;
  await askForDump(world);
  await world.clock.pass(60_000);
  await world.delete("vm");
  await world.clock.pass(60_000);
  // It is paused while its memory is written and cannot shut down, so it was killed after its grace period.
  expect(launcher.calls.slice(-2)).toEqual(["kill", "delete"]);
  expect([launcher.isRunning, (await world.vmi("vm"))?.status?.phase]).toEqual([false, "Failed"]);
});

test("an agent without its state neither writes the memory of a guest nor changes its volumes", async () => {
  const { world, launcher } = await dumpingWorld();
  await using _ = world;
  world.stop();
  world.loseState();
  launcher.plugged.clear();
  await askForDump(world);
  await world.change("vm", (object) => {
    const vmi = object as unknown as VirtualMachineInstance;
    const before = vmi.status?.volumeStatus ?? [];
    const volumeStatus = before.map((each) => ({ ...each, phase: "MemoryDumpInProgress" }));
    return { ...vmi, status: { ...vmi.status, volumeStatus } };
  });
  world.start();
  await world.clock.pass(aWhile);
  expect(dumps(launcher)).toBe(0);
  expect([...launcher.plugged]).toEqual([]);
});
