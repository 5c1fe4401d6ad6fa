import { defineResource } from "@virtkit/kube";
import { expect, test } from "vitest";
import { podResource } from "../service/launcher-pods.ts";
import type { SeamHook } from "../service/seams.ts";
import { measuredGuests } from "../service/served-guests.ts";
import { vmiResource } from "../testing/agent-world.ts";
import { outcome, settle } from "../testing/moving-outcome.ts";
import { firstMove, MovingWorld } from "../testing/moving-world.ts";

/** A guest that runs on node a, and a migration to node b that was handed off. */
async function handedOff(
  world: MovingWorld = new MovingWorld(),
  seamOfTarget?: SeamHook,
): Promise<MovingWorld> {
  await world.begin();
  world.start("a");
  world.start("b", seamOfTarget);
  await world.clock.pass(5_000);
  expect(world.running).toEqual(["a"]);
  await world.handOff();
  return world;
}

/** The controller passes on that the migration is not wanted any more. */
async function abort(world: MovingWorld): Promise<void> {
  await world.change((vmi) => ({
    ...vmi,
    status: {
      ...vmi.status,
      migrationState: { ...vmi.status?.migrationState, abortRequested: true },
    },
  }));
}

/** Waits for something that needs the world's time. */
async function inTime(world: MovingWorld, work: Promise<unknown> | undefined): Promise<void> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  work?.then(over, over);
  await world.clock.passUntil(() => isOver);
  await work;
}

test("two agents move a guest: the target claims it with its node's name, and the source is gone", async () => {
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

test("the source reports to metrics how far a leaving guest is, and only while it leaves", async () => {
  await using world = new MovingWorld();
  await world.begin();
  const agents = [world.start("a"), world.start("b")];
  await world.clock.pass(5_000);
  const told = () =>
    agents.flatMap((agent) => measuredGuests(agent).map(({ migration }) => migration));
  expect(told()).toEqual([undefined]);
  await world.handOff();
  await settle(world, 2_000);
  const [leaving, ...others] = told().filter((each) => each !== undefined);
  expect(others).toEqual([]);
  const { total = 0, transferred = 0, remaining = 0 } = leaving ?? {};
  expect(total).toBeGreaterThan(0);
  expect(transferred + remaining).toBeGreaterThan(0);
  await settle(world, 20_000);
  expect(world.running).toEqual(["b"]);
  expect(told()).toEqual([undefined]);
});

test("an event reports a broken post-copy and what is needed; once recovered, it is a migration like any other", async () => {
  await using world = await handedOff();
  world.wires.bandwidth = 4 * 2 ** 20;
  const events = defineResource({ version: "v1", plural: "events", kind: "Event" });
  const warnings = async (): Promise<string[]> => {
    const { items } = await world.client.list(events, { namespace: "default" });
    const found = items as readonly { type?: string; reason?: string; message?: string }[];
    return found.flatMap(({ type, reason, message = "" }) =>
      type === "Warning" && reason === "Migrating" ? [message] : [],
    );
  };
  await settle(world, 4_000);
  await inTime(world, world.launchers[0]?.migrations.switchToPostCopy({ migrationUID: "m-1" }));
  await settle(world, 1_000);
  expect(await warnings()).toEqual([]);
  world.wires.blockStreams(true);
  await settle(world, 60_000);
  const told = await warnings();
  expect(told.at(-1)).toMatch(/recover the post-copy; the last attempt failed: no stream/);
  // It says so once, however often it is tried.
  expect(told.length).toBeLessThanOrEqual(3);
  expect(await world.grant()).toMatchObject({ state: "Committed" });
  const waiting = await world.vmi();
  expect(waiting.status).toMatchObject({ phase: "Running" });
  expect(waiting.status?.migrationState).not.toHaveProperty("failed", true);
  expect(world.launchers.map(({ launcher }) => launcher.hasEnded)).toEqual([false, false]);
  world.wires.blockStreams(false);
  await settle(world, 120_000);
  expect(await outcome(world)).toBe("b runs, moved");
  expect(await warnings()).toHaveLength(told.length);
});

/** A guest in post-copy, with so little bandwidth that it stays there for a while. */
async function inPostCopy(): Promise<MovingWorld> {
  const world = await handedOff();
  world.wires.bandwidth = 4 * 2 ** 20;
  await settle(world, 4_000);
  await inTime(world, world.launchers[0]?.migrations.switchToPostCopy({ migrationUID: "m-1" }));
  await settle(world, 1_000);
  expect(await world.grant()).toMatchObject({ state: "Committed" });
  return world;
}

test.each([
  ["the agent of the source", ["a"]],
  ["the agent of the target", ["b"]],
  ["both agents", ["a", "b"]],
] as const)("a post-copy that breaks with %s is recovered once they are back", async (_, nodes) => {
  await using world = await inPostCopy();
  const before = world.seen.length;
  for (const node of nodes) world.stop(node);
  await settle(world, 10_000);
  expect(await world.grant()).toMatchObject({ state: "Committed" });
  expect(world.launchers.map(({ launcher }) => launcher.hasEnded)).toEqual([false, false]);
  for (const node of nodes) world.start(node);
  await settle(world, 120_000);
  expect(await outcome(world)).toBe("b runs, moved");
  expect(world.launchers[0]?.launcher.hasEnded).toBe(true);
  // The target's ports are other ones then, and the sandbox of its guest is in use.
  const [first] = world.seen.slice(before).filter((each) => /^(way (in|out),|target)/.test(each));
  const isTargets = nodes.some((node) => node === "b");
  expect(first).toBe(`way ${isTargets ? "in" : "out"}, encryption: qemu`);
});

test("a source whose node gets no certificate any more keeps a guest in post-copy, and reconnects later", async () => {
  await using world = await inPostCopy();
  world.stop("a");
  world.refused.add("a");
  world.start("a");
  await settle(world, 120_000);
  expect(await world.grant()).toMatchObject({ state: "Committed" });
  expect(await world.migrationState()).not.toHaveProperty("failed", true);
  expect(world.launchers.map(({ launcher }) => launcher.hasEnded)).toEqual([false, false]);
  world.refused.clear();
  await settle(world, 120_000);
  expect(await outcome(world)).toBe("b runs, moved");
});

test("an aborted migration leaves the guest where it was, and the waiting launcher is gone", async () => {
  await using world = await handedOff();
  await settle(world, 2_000);
  await abort(world);
  await settle(world, 30_000);
  expect(await outcome(world)).toBe("a runs, failed");
  expect(await world.migrationState()).toMatchObject({ abortStatus: "Succeeded" });
  expect(world.launchers.map(({ launcher }) => launcher.hasEnded)).toEqual([false, true]);
  expect((await world.vmi()).metadata.labels).toEqual({ "kubevirt.io/nodeName": "a" });
});

test("when the source's launcher is killed, the guest is lost: the target's copy ends by proof, and the VMI has failed", async () => {
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

test("when the target's launcher is killed, the guest stays where it was", async () => {
  await using world = await handedOff();
  await settle(world, 2_000);
  await world.killLauncher("target");
  await settle(world, 60_000);
  expect(await outcome(world)).toBe("a runs, failed");
});

test("deleting a VMI during a migration settles the migration first, and ends the guest where it is", async () => {
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
  "if the launcher of the %s does not support migrations the guest stays, and the status says why",
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

test("both launchers encrypt once there are certificates, and no unencrypted path stays open", async () => {
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

test("only a cluster that disables TLS makes launchers send and accept unencrypted data", async () => {
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

test("a target whose kernel cannot do the post-copy that is allowed fails the migration before anything is prepared, and says what to do", async () => {
  const unable = new MovingWorld({ migrations: { allowPostCopy: true } });
  unable.noPostCopy.add("b");
  await using world = await handedOff(unable);
  await settle(world, 20_000);
  expect(await outcome(world)).toBe("a runs, failed");
  const failureReason =
    "node b cannot receive a guest that may switch to post-copy: set the sysctl";
  expect(await world.migrationState()).toMatchObject({ completed: true, failureReason });
  expect(world.seen.filter((each) => /target prepared|way|receive|send/.test(each))).toEqual([]);
});

test.each([
  ["post-copy is allowed, and its kernel can", true, []],
  ["its kernel cannot, and post-copy is not allowed", false, ["b"]],
] as const)("a guest moves to a node if %s", async (_, allowPostCopy, unable) => {
  const able = new MovingWorld({ migrations: { allowPostCopy } });
  for (const node of unable) able.noPostCopy.add(node);
  await using world = await handedOff(able);
  await settle(world, 60_000);
  expect(await outcome(world)).toBe("b runs, moved");
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

test("the end of a migration removes no marks of the next one to the same node", async () => {
  const before = new MovingWorld();
  const next = { ...firstMove, migrationUid: "m-2", targetPod: "target-2" };
  // The controller begins the next one between what the agent has seen of the first, and what it writes of it.
  const seam: SeamHook = async (name, when) => {
    if (name !== "write the migration's state" || when !== "before") return;
    const { migrationUid, completed } = await before.migrationState();
    if (migrationUid === "m-1" && completed) await before.handOff(next);
  };
  await using world = await handedOff(before, seam);
  await settle(world, 2_000);
  await abort(world);
  await settle(world, 60_000);
  expect(await world.migrationState()).toMatchObject({ migrationUid: "m-2" });
  expect(await outcome(world)).toBe("b runs, moved");
});

const late = "is restarted after the next migration has begun";
test.each(["continues", "is restarted", late])(
  "a launcher learns of its claim from an agent that got no answer to it and %s",
  async (agent) => {
    const before = new MovingWorld();
    let isLost = false;
    const seam: SeamHook = (name, when) => {
      if (isLost || name !== "swap the grant" || when !== "after") return;
      isLost = true;
      if (agent !== "continues") before.stop("b");
      throw new Error("the API server does not answer");
    };
    await using world = await handedOff(before, seam);
    await settle(world, 20_000);
    expect(isLost).toBe(true);
    expect(await world.grant()).toMatchObject({ state: "Claimed", holder: { node: "b" } });
    const [sourceNode, targetNode] = ["b", "a"] as const;
    const [sourcePod, targetPod] = ["target", "target-2"];
    const back = { migrationUid: "m-2", sourceNode, targetNode, sourcePod, targetPod };
    if (agent === late) await world.handOff(back);
    if (agent !== "continues") world.start("b");
    await settle(world, 20_000);
    // A launcher that waits to hear of its claim begins no other migration.
    if (agent !== late) {
      expect(await outcome(world)).toBe("b runs, moved");
      await world.handOff(back);
    }
    await settle(world, 30_000);
    expect(await world.migrationState()).toMatchObject({ migrationUid: "m-2" });
    expect(await outcome(world)).toBe("a runs, moved");
  },
);

test("an agent in another boot knows that its guest was being handed over: it has failed only once the target has reported it", async () => {
  await using world = await handedOff();
  while (!(await world.grantHandover())) await world.clock.pass(500);
  // Nothing in the VMI says yet that the guest moves: only the grant does, and it names the earlier boot.
  expect((await world.migrationState()).startTimestamp).toBeUndefined();
  await world.reboot("a");
  world.start("a");
  await settle(world, 5_000);
  expect(await world.nodeOf("a")).toMatchObject({
    status: { nodeInfo: { bootID: "boot-a-again" } },
  });
  expect(await world.grant()).toMatchObject({ state: "HandingOver", holder: { bootID: "boot-a" } });
  expect((await world.vmi()).status?.phase).toBe("Running");
  await settle(world, 20_000);
  expect((await world.vmi()).status).toMatchObject({
    phase: "Failed",
    migrationState: { failed: true, failureReason: "the target's copy has ended" },
  });
});

test("a guest whose source and target were lost has failed although the target's Pod is gone: its agent saw it end", async () => {
  await using world = await handedOff();
  while (!(await world.grantHandover())) await world.clock.pass(500);
  await world.killLauncher("target");
  await world.client.delete(podResource, { namespace: "default", name: "target" });
  await settle(world, 1_000);
  expect(await world.grant()).toMatchObject({ state: "HandingOver" });
  await world.reboot("a");
  await settle(world, 20_000);
  expect(await world.grant()).toMatchObject({ state: "Ended" });
  expect((await world.vmi()).status?.phase).toBe("Failed");
});

test("a source that has released its guest ends although its agent was restarted before it heard that the target has it", async () => {
  const before = new MovingWorld();
  let isKilled = false;
  const seam: SeamHook = (name, when) => {
    if (isKilled || name !== "swap the grant" || when !== "before") return;
    if (before.launchers.length < 2) return;
    isKilled = true;
    before.stop("a");
    throw new Error("killed");
  };
  await using world = before;
  await world.begin();
  world.start("a", seam);
  world.start("b");
  await world.clock.pass(5_000);
  world.wires.loseReply("release");
  await world.handOff();
  await settle(world, 20_000);
  expect(isKilled).toBe(true);
  expect(await outcome(world)).toBe("b runs, moved");
  expect(world.launchers[0]?.launcher.hasEnded).toBe(false);
  world.start("a");
  await settle(world, 20_000);
  expect(world.launchers[0]?.launcher.hasEnded).toBe(true);
});
