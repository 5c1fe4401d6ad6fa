import { ManualClock, sleep } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { KubeError } from "../client/kube-error.ts";
import { defineResource } from "../client/resource.ts";
import { type Behaviour, MemoryClient } from "../testing/memory-client.ts";
import { EventRecorder } from "./event-recorder.ts";
import { events } from "./kube-event.ts";

const things = defineResource({
  group: "x.example",
  version: "v1",
  plural: "things",
  kind: "Thing",
});
const thing = (name: string) => ({ metadata: { name, namespace: "default", uid: `uid-${name}` } });

function setUp(behaviour: Behaviour = {}, options = {}) {
  const clock = new ManualClock();
  const wall = (): Date => new Date(clock.now());
  const client = new MemoryClient(undefined, behaviour);
  const dropped: string[] = [];
  const metrics = {
    count: (_name: string, labels: Record<string, string> = {}) =>
      dropped.push(labels["reason"] ?? ""),
    observe: () => {},
  };
  let ids = 0;
  const random = { number: () => 0.5, uuid: () => `id-${++ids}` };
  const base = { client, component: "demo", clock, wall, random, metrics };
  const recorder = new EventRecorder({ ...base, ...options });
  const written = async () => (await client.list(events)).items;
  return { clock, client, recorder, written, dropped };
}

test("an event names its object, and a repeated event raises its count", async () => {
  const { clock, recorder, written, client } = setUp();
  recorder.record(things, thing("a"), { reason: "Created", message: "made a Pod" });
  await clock.pass(61_000);
  recorder.record(things, thing("a"), { reason: "Created", message: "made a Pod" });
  await recorder.flush();
  expect(await written()).toMatchObject([
    {
      metadata: { namespace: "default", name: "a.id1" },
      involvedObject: { apiVersion: "x.example/v1", kind: "Thing", name: "a", uid: "uid-a" },
      type: "Normal",
      reason: "Created",
      message: "made a Pod",
      count: 2,
      firstTimestamp: "1970-01-01T00:00:00Z",
      lastTimestamp: "1970-01-01T00:01:01Z",
      source: { component: "demo" },
    },
  ]);
  expect(client.writes.map(({ verb }) => verb)).toEqual(["create", "patch"]);
});

test("events that happen together are one write", async () => {
  const { recorder, written, client } = setUp();
  for (let i = 0; i < 5; i++) {
    recorder.record(things, thing("a"), { type: "Warning", reason: "Failed", message: "no room" });
  }
  await recorder.flush();
  expect((await written()).map(({ count, type }) => [count, type])).toEqual([[5, "Warning"]]);
  expect(client.writes).toHaveLength(1);
});

test("many messages with one reason become one event", async () => {
  const { recorder, written } = setUp();
  for (let i = 0; i < 20; i++) {
    recorder.record(things, thing("a"), { reason: "Failed", message: `try ${i}` });
  }
  await recorder.flush();
  const all = await written();
  expect(all).toHaveLength(11);
  expect(all.at(-1)).toMatchObject({ message: "(combined from similar events) try 19", count: 10 });
});

test("an object with too many events is cut off, and others are not", async () => {
  const { recorder, dropped, clock, written } = setUp();
  const say = (name: string): void =>
    recorder.record(things, thing(name), { reason: "Failed", message: "again" });
  for (let i = 0; i < 100; i++) say("loud");
  say("quiet");
  await recorder.flush();
  expect(dropped).toEqual(Array(75).fill("too many"));
  expect((await written()).map(({ count }) => count)).toEqual([25, 1]);
  await clock.pass(300_000);
  say("loud");
  expect(dropped).toHaveLength(75);
});

test("a server that hangs blocks nobody, and the backlog is bounded", async () => {
  const { recorder, dropped, clock } = setUp(
    { before: () => sleep(clock, 1_000_000) },
    { mostPending: 10 },
  );
  for (let i = 0; i < 100; i++) {
    recorder.record(things, thing(`t${i}`), { reason: "Created", message: "x" });
  }
  expect(dropped).toEqual(Array(90).fill("full"));
  const closing = recorder.close();
  await clock.pass(1_000_000);
  await closing;
});

test("retries after no answer, but not after a rejection", async () => {
  const failures = [
    new KubeError("KUBE_CONNECTION", "reset"),
    new KubeError("KUBE_STATUS", "overloaded", { status: 503 }),
    undefined,
    new KubeError("KUBE_STATUS", "terminating", { status: 403, reason: "Forbidden" }),
  ];
  const { recorder, clock, written, dropped } = setUp({
    before: () => {
      const failure = failures.shift();
      if (failure) throw failure;
    },
  });
  recorder.record(things, thing("a"), { reason: "One", message: "x" });
  await clock.pass(10_000);
  recorder.record(things, thing("a"), { reason: "Two", message: "x" });
  await clock.pass(60_000);
  await recorder.flush();
  expect((await written()).map(({ reason }) => reason)).toEqual(["One"]);
  expect([dropped, failures.length]).toEqual([["failed"], 0]);
});

test("an event the server has forgotten is created again, with its count", async () => {
  const { recorder, client, written } = setUp();
  recorder.record(things, thing("a"), { reason: "Created", message: "x" });
  await recorder.flush();
  await client.delete(events, { namespace: "default", name: "a.id1" });
  recorder.record(things, thing("a"), { reason: "Created", message: "x" });
  await recorder.flush();
  expect((await written()).map(({ metadata, count }) => [metadata.name, count])).toEqual([
    ["a.id2", 2],
  ]);
});
