import { afterAll, beforeAll, expect, test } from "vitest";
import { patiently, TwoNodes } from "./testing/two-nodes.ts";

let lab: TwoNodes;
beforeAll(async () => {
  lab = await TwoNodes.start();
  await lab.boot();
});
afterAll(async () => await lab?.[Symbol.asyncDispose]());

/** Where the guest must be now, and nowhere else: it runs, it has the grant, and it has lost no count. */
async function expectGuestOn(name: string): Promise<void> {
  expect((await lab.running()).map((node) => node.name)).toEqual([name]);
  expect(await lab.grant()).toMatchObject({ state: "Claimed", holder: { node: name } });
  await lab.counting();
  expect(lab.faults()).toEqual([]);
}

test("a guest moves there and back ten times, and no count is lost, repeated or forked", async () => {
  for (const node of Array.from({ length: 10 }, () => ["b", "a"]).flat()) {
    const move = await lab.move();
    const { source, target } = await move.run();
    expect(await source.outcome()).toMatchObject({
      outcome: "moved",
      by: "preCopy",
      settled: { source: "ended", record: { outcome: "released" } },
    });
    expect(await target.outcome()).toEqual({ target: "runs" });
    await expectGuestOn(node);
  }
}, 900_000);

test("the phases are in order: the decision before the release, the resume before the end of confirm", async () => {
  const move = await lab.move();
  const { source, target } = await move.run();
  await Promise.all([source.outcome(), target.outcome()]);
  const all = [...source.seams, ...target.seams].sort(([, a], [, b]) => a - b).map(([at]) => at);
  const order = [
    "perform.after",
    "finish.after",
    "decision.after",
    "resume.after",
    "confirm.after",
  ];
  expect(all).toEqual(expect.arrayContaining(order));
  const places = order.map((at) => all.lastIndexOf(at));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  await expectGuestOn("b");
});

test("aborted half-way, the guest keeps running at the source, and the partial copy is gone", async () => {
  const move = await lab.move({ params: { bandwidth: 10 } });
  const { source } = await move.run();
  await patiently("half of it is there", async () => move.data.bytes > 10_000_000);
  expect(await source.ask("abort")).toBeUndefined();
  expect(await source.outcome()).toMatchObject({
    outcome: "stayed",
    error: { path: "source/decision" },
    settled: { source: "runs", record: { outcome: "aborted" } },
  });
  await expectGuestOn("b");
  await patiently("the half copy is gone", async () => (await lab.state(move.target)) === "absent");
});

test("a guest that its user paused stays paused at the target", async () => {
  await lab.nodes[1].daemon.virsh("suspend", "vm1");
  const before = lab.counts;
  const move = await lab.move({ paused: true });
  const { source, target } = await move.run();
  expect(await source.outcome()).toMatchObject({ outcome: "moved" });
  expect(await target.outcome()).toEqual({ target: "runs" });
  expect(await lab.state(move.target)).toBe("paused (user)");
  expect(lab.counts).toBe(before);
  await move.target.daemon.virsh("resume", "vm1");
  await expectGuestOn("a");
});

test("a guest that dirties memory faster than the link is aborted in time, unharmed", async () => {
  await lab.inGuest(lab.nodes[0], "setsid dirty 48 >/dev/null 2>&1 &");
  const giveUp = { iteration: 3, how: "abort" } as const;
  const move = await lab.move({ params: { bandwidth: 20 }, giveUp });
  const { source } = await move.run();
  expect(await source.outcome()).toMatchObject({
    outcome: "stayed",
    error: { message: expect.stringContaining("it does not converge") },
    settled: { source: "runs" },
  });
  await expectGuestOn("a");
});

test("with post-copy, the same guest is committed, switched and complete at the target", async () => {
  const giveUp = { iteration: 3, how: "postCopy" } as const;
  const params = { bandwidth: 20, "bandwidth.postcopy": 50 };
  const move = await lab.move({ flags: ["postcopy"], params, giveUp });
  const { source, target } = await move.run();
  expect(await source.outcome()).toMatchObject({
    outcome: "moved",
    by: "postCopy",
    settled: { source: "ended", record: { outcome: "committed" } },
  });
  expect(await target.outcome()).toEqual({ target: "runs" });
  await expectGuestOn("b");
});

test("if the launcher dies between the switch and finish, the next one continues, because there is no way back", async () => {
  const giveUp = { iteration: 3, how: "postCopy" } as const;
  const params = { bandwidth: 20, "bandwidth.postcopy": 50 };
  const holdSource = ["finish.before"];
  const move = await lab.move({ flags: ["postcopy"], params, giveUp, holdSource });
  const { source, target } = await move.run();
  await source.reached("finish.before");
  expect(await lab.state(move.source)).toBe("paused (post-copy)");
  await source.kill();
  const settled = await move.drive("settleSource");
  await settled.outcome();
  expect(await target.outcome()).toEqual({ target: "runs" });
  await settled.kill();
  const last = await move.drive("settleSource");
  expect(await last.outcome()).toMatchObject({ source: "ended" });
  await expectGuestOn("a");
});

test("post-copy whose stream is cut is recovered, and nothing is destroyed meanwhile", async () => {
  const giveUp = { iteration: 3, how: "postCopy" } as const;
  // So slow that it is not over before it is cut, on a busy host either.
  const params = { bandwidth: 20, "bandwidth.postcopy": 2 };
  const move = await lab.move({ flags: ["postcopy"], params, giveUp });
  const { source } = await move.run();
  await patiently("the target runs in post-copy", async () =>
    (await lab.state(move.target)).startsWith("running"),
  );
  // Cut sooner, the target's devices may wait for pages with QEMU's lock held, and QEMU 7.2 hears nothing more.
  await lab.counting(3);
  move.data.cut();
  source.letTimePass();
  expect(await source.outcome()).toMatchObject({
    outcome: "broken",
    settled: { source: "waits", for: "recovery", record: { outcome: "committed" } },
  });
  await patiently("both sides know that it is broken", async () => {
    const states = await Promise.all(lab.nodes.map((node) => lab.state(node)));
    return states.every((state) => state.includes("post-copy failed"));
  });
  await source.kill();
  const next = await move.drive("recover", { "bandwidth.postcopy": 200 });
  expect(await next.outcome()).toMatchObject({ source: "ended" });
  await expectGuestOn("b");
});

test("with auto-converge, the same guest is slowed down until it moves", async () => {
  const params = { bandwidth: 20, "auto_converge.initial": 80, "auto_converge.increment": 10 };
  const move = await lab.move({ flags: ["autoConverge"], params });
  const { source } = await move.run();
  expect(await source.outcome()).toMatchObject({ outcome: "moved", by: "preCopy" });
  await expectGuestOn("a");
});
