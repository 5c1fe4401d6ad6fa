import { expect, test } from "vitest";
import { vmiResource } from "../testing/agent-world.ts";
import { outcome, settle } from "../testing/moving-outcome.ts";
import { MovingWorld } from "../testing/moving-world.ts";

/** A guest that runs on node a, and a migration to node b that was handed off. */
async function handedOff(...old: readonly string[]): Promise<MovingWorld> {
  const world = new MovingWorld();
  for (const podName of old) world.old.add(podName);
  await world.begin();
  world.start("a");
  world.start("b");
  await world.clock.pass(5_000);
  expect(world.running).toEqual(["a"]);
  await world.handOff();
  return world;
}

test("two agents move a guest: it is claimed by the target with its node's name, and the source is gone", async () => {
  await using world = await handedOff();
  await settle(world, 20_000);
  expect(world.running).toEqual(["b"]);
  expect(await world.grant()).toMatchObject({ state: "Claimed", epoch: 2, holder: { node: "b" } });
  const { metadata, status } = await world.vmi();
  expect(status).toMatchObject({
    nodeName: "b",
    phase: "Running",
    migrationState: { completed: true },
  });
  expect(status?.migrationState?.failed).toBeUndefined();
  expect(metadata.labels).toEqual({ "kubevirt.io/nodeName": "b" });
  const [source] = world.launchers;
  expect(source?.launcher.hasEnded).toBe(true);
});

test("a migration that is aborted ends with the guest where it was, and the launcher that waited is gone", async () => {
  await using world = await handedOff();
  await settle(world, 2_000);
  await world.change((vmi) => ({
    ...vmi,
    status: {
      ...vmi.status,
      migrationState: { ...vmi.status?.migrationState, abortRequested: true },
    },
  }));
  await settle(world, 30_000);
  expect(await outcome(world)).toBe("a runs, failed");
  expect(await world.migrationState()).toMatchObject({ abortStatus: "Succeeded" });
  expect(world.launchers.map(({ launcher }) => launcher.hasEnded)).toEqual([false, true]);
  expect((await world.vmi()).metadata.labels).toEqual({ "kubevirt.io/nodeName": "a" });
});

test("a source's launcher that is killed takes the guest with it: the target's copy ends, too, by proof, and the VMI has failed", async () => {
  await using world = await handedOff();
  await settle(world, 2_000);
  expect((await world.grant()).state).toBe("HandingOver");
  await world.killLauncher("source");
  await settle(world, 60_000);
  expect(world.running).toEqual([]);
  expect(world.launchers.map(({ launcher }) => launcher.hasEnded)).toEqual([true, true]);
  const { status } = await world.vmi();
  expect(status).toMatchObject({ phase: "Failed", migrationState: { failed: true } });
});

test("a target's launcher that is killed leaves the guest where it was", async () => {
  await using world = await handedOff();
  await settle(world, 2_000);
  await world.killLauncher("target");
  await settle(world, 60_000);
  expect(await outcome(world)).toBe("a runs, failed");
});

test("a VMI that is deleted while its guest moves is settled first, and ends where its guest is", async () => {
  await using world = await handedOff();
  await settle(world, 2_000);
  await world.client.patch(
    vmiResource,
    { namespace: "default", name: "demo" },
    {
      ...{ type: "merge", body: { metadata: { finalizers: ["kubevirt.io/x"] } } },
    },
  );
  await world.client.delete(vmiResource, { namespace: "default", name: "demo" });
  await settle(world, 60_000);
  expect(world.running).toEqual([]);
  expect(world.launchers.map(({ launcher }) => launcher.hasEnded)).toEqual([true, true]);
  expect((await world.grant()).state).toBe("Ended");
});

test.each(["source", "target"])(
  "where the launcher of the %s is of a release that knows no migrations the guest stays, and the status says why",
  async (podName) => {
    await using world = await handedOff(podName);
    await settle(world, 120_000);
    expect(await outcome(world)).toBe("a runs, failed");
    const { failureReason } = await world.migrationState();
    expect(failureReason).toMatch(/it could not begin: .*(older than its caller|did not answer)/);
  },
);
