import { expect, test } from "vitest";
import { vmiResource } from "../testing/agent-world.ts";
import { outcome, settle } from "../testing/moving-outcome.ts";
import { MovingWorld } from "../testing/moving-world.ts";

/** A guest that runs on node a, and a migration to node b that was handed off. */
async function handedOff(world: MovingWorld = new MovingWorld()): Promise<MovingWorld> {
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
    const before = new MovingWorld();
    before.old.add(podName);
    await using world = await handedOff(before);
    await settle(world, 120_000);
    expect(await outcome(world)).toBe("a runs, failed");
    const { failureReason } = await world.migrationState();
    expect(failureReason).toMatch(/it could not begin: .*(older than its caller|did not answer)/);
  },
);

test("both launchers are told to encrypt what moves, once there are certificates, and no way stays open", async () => {
  await using world = await handedOff();
  await settle(world, 20_000);
  await world.clock.pass(60_000);
  expect(world.running).toEqual(["b"]);
  expect(world.seen.filter((each) => !each.includes("prepared"))).toEqual([
    "source cleared",
    ...["way in, encryption: qemu", "receive, encrypted"],
    ...["way out, encryption: qemu", "send, encrypted to m-1"],
    ...["way out closed", "way in closed", "target cleared"],
  ]);
});

test("where the cluster disables TLS, and only there, the launchers are told to send and take clear data", async () => {
  const clear = new MovingWorld({ migrations: { disableTLS: true } });
  await using world = await handedOff(clear);
  await settle(world, 20_000);
  expect(world.running).toEqual(["b"]);
  expect(world.seen.filter((each) => each.includes("encrypted"))).toEqual([]);
  expect(world.seen).toContain("send, clear");
});

test("a target whose node gets no certificate fails the migration before anything is prepared", async () => {
  const refusing = new MovingWorld();
  refusing.refused.add("b");
  await using world = await handedOff(refusing);
  await settle(world, 20_000);
  expect(await outcome(world)).toBe("a runs, failed");
  expect(await world.migrationState()).toMatchObject({
    ...{ completed: true, failureReason: "no certificate: the node is unknown" },
  });
  expect(world.seen.filter((each) => /target prepared|way|receive|send/.test(each))).toEqual([]);
  const [, target] = world.launchers;
  expect(target?.launcher.calls).toContain("delete");
});

test("a source whose node gets no certificate fails the migration at once, and nothing is sent", async () => {
  const refusing = new MovingWorld();
  refusing.refused.add("a");
  await using world = await handedOff(refusing);
  await settle(world, 20_000);
  expect(await outcome(world)).toBe("a runs, failed");
  expect(await world.migrationState()).toMatchObject({
    failureReason: expect.stringContaining("it could not begin: no certificate"),
  });
  expect(world.seen.filter((each) => /way out|send/.test(each))).toEqual([]);
});
