import { ManualClock } from "@virtkit/api/clock";
import type { Log, Metrics } from "@virtkit/api/observe";
import { expect, onTestFinished, test } from "vitest";
import type { WatchEvent } from "../client/kube-client.ts";
import { KubeError } from "../client/kube-error.ts";
import type { KubeObject } from "../client/kube-object.ts";
import { defineResource } from "../client/resource.ts";
import { type Scripted, ScriptedClient } from "../testing/scripted-client.ts";
import { Reflector } from "./reflector.ts";
import type { ReflectorOptions } from "./reflector-options.ts";

const pods = defineResource({ version: "v1", plural: "pods", kind: "Pod" });
const half = { number: () => 0.5, uuid: () => "" };

function object(name: string, resourceVersion: string): KubeObject {
  return { metadata: { name, namespace: "default", uid: `uid-${name}`, resourceVersion } };
}
const added = (name: string, version: string): WatchEvent<KubeObject> => ({
  type: "ADDED",
  object: object(name, version),
});
const bookmark = (resourceVersion: string, isEnd = false): WatchEvent<KubeObject> => ({
  type: "BOOKMARK",
  object: {
    metadata: {
      resourceVersion,
      ...(isEnd && { annotations: { "k8s.io/initial-events-end": "true" } }),
    },
  },
});
const page = (items: KubeObject[], next?: string): Scripted => ({
  list: { items, metadata: { resourceVersion: "10", ...(next && { continue: next }) } },
});
const expired = new KubeError("KUBE_STATUS", "too old", { status: 410, reason: "Expired" });
const reset = new KubeError("KUBE_CONNECTION", "reset");

/** Runs a reflector on a script; `told` has what it said, in short. */
function run(script: readonly Scripted[], options: Partial<ReflectorOptions<KubeObject>> = {}) {
  const scripted = new ScriptedClient(script);
  const clock = new ManualClock();
  const stop = new AbortController();
  const told: string[] = [];
  const warnings: string[] = [];
  const counted: string[] = [];
  const say = (details: unknown): void => void warnings.push(JSON.stringify(details));
  const log: Log = { debug: say, info: say, warn: say, error: say };
  const metrics: Metrics = {
    count: (name) => void counted.push(name),
    observe: () => {},
  };
  const reflector = new Reflector(scripted.client, pods, {
    clock,
    random: half,
    log,
    metrics,
    signal: stop.signal,
    list: "stream",
    ...options,
  });
  const running = (async () => {
    for await (const event of reflector) {
      const what = "object" in event ? ` ${event.object.metadata.name}` : "";
      told.push(`${event.type}${what}`);
    }
  })();
  onTestFinished(async () => {
    stop.abort();
    await running;
    expect(clock.pending).toBe(0);
  });
  return { scripted, clock, told, warnings, counted, reflector, stop, running };
}

test("the watch begins with the objects that exist", async () => {
  const { scripted, clock, told } = run([
    { watch: [added("b", "7"), added("a", "5"), bookmark("9", true), added("c", "10")] },
  ]);
  await clock.pass(0);
  expect(told).toEqual(["init", "apply b", "apply a", "initDone", "apply c"]);
  expect(scripted.watches).toMatchObject([{ sendInitialEvents: true, allowBookmarks: true }]);
});

const tooLarge = new KubeError("KUBE_STATUS", "too large", {
  status: 504,
  causes: [{ reason: "ResourceVersionTooLarge" }],
});

test.each([
  ["does not know how to", new KubeError("KUBE_STATUS", "forbidden", { status: 422 })],
  ["has an etcd that is too old for it", tooLarge],
])("a server that %s stream a list is asked for pages", async (_why, refused) => {
  const { scripted, clock, told } = run([
    { fail: refused },
    page([object("a", "1")], "next"),
    page([object("b", "2")]),
    { watch: [added("c", "11")] },
  ]);
  await clock.pass(1_000);
  expect(told).toEqual(["init", "apply a", "apply b", "initDone", "apply c"]);
  expect(scripted.lists).toMatchObject([{ limit: 200 }, { limit: 200, continue: "next" }]);
  expect(scripted.watches[1]).toMatchObject({ resourceVersion: "10" });
});

test("a server that never ends its list is asked for pages", async () => {
  const { clock, told } = run([{ watch: [added("a", "1")] }, page([object("a", "1")])]);
  await clock.pass(16_000);
  expect(told).toEqual(["init", "apply a", "init", "apply a", "initDone"]);
});

test("a list whose stream breaks repeatedly is requested in pages", async () => {
  const broken = { watch: [added("a", "1")], end: reset };
  const { clock, told, scripted } = run([broken, broken, broken, page([object("a", "1")])]);
  await clock.pass(10_000);
  expect(scripted.lists).toHaveLength(1);
  expect(told.slice(-3)).toEqual(["init", "apply a", "initDone"]);
});

test("a broken connection resumes from the last version, including a bookmark's", async () => {
  const { scripted, clock, told } = run([
    { watch: [bookmark("9", true), added("a", "10"), bookmark("20")], end: reset },
    { watch: [added("b", "21")] },
  ]);
  await clock.pass(1_000);
  expect(told).toEqual(["init", "initDone", "apply a", "apply b"]);
  expect(scripted.watches[1]).toMatchObject({ resourceVersion: "20" });
  expect(scripted.watches[1]?.sendInitialEvents).toBeUndefined();
});

test.each([
  ["a version that was compacted away", expired],
  ["a version that the server does not know", tooLarge],
  ["a line that cannot be read", new KubeError("KUBE_ANSWER_INVALID", "not JSON")],
  ["a refusal", new KubeError("KUBE_STATUS", "forbidden", { status: 403 })],
])("%s leads to a new list and is reported", async (_what, end) => {
  const { clock, told, warnings, counted } = run([
    { watch: [added("a", "1"), bookmark("9", true)], end },
    { watch: [added("b", "10"), bookmark("11", true)] },
  ]);
  await clock.pass(1_000);
  expect(told).toEqual(["init", "apply a", "initDone", "init", "apply b", "initDone"]);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain(end.message);
  expect(counted).toContain("kube_reflector_failures");
});

test("a line out of order leads to a new list; a repeated line is reported once", async () => {
  const { clock, told, warnings } = run([
    { watch: [bookmark("9", true), added("a", "10"), added("a", "10"), added("b", "8")] },
    { watch: [bookmark("12", true)] },
  ]);
  await clock.pass(1_000);
  expect(told).toEqual(["init", "initDone", "apply a", "init", "initDone"]);
  expect(warnings[0]).toContain("from version 10 to 8");
});

test("versions that are not numbers are not compared", async () => {
  const { clock, told } = run([{ watch: [bookmark("z", true), added("a", "y"), added("b", "x")] }]);
  await clock.pass(0);
  expect(told).toEqual(["init", "initDone", "apply a", "apply b"]);
});

test("a connection that is silent for two minutes is closed and resumed", async () => {
  const { scripted, clock, warnings } = run([{ watch: [bookmark("9", true)] }, { watch: [] }]);
  await clock.pass(119_000);
  expect(scripted.watches).toHaveLength(1);
  await clock.pass(2_000);
  expect(scripted.watches).toHaveLength(2);
  expect(scripted.watches[1]).toMatchObject({ resourceVersion: "9" });
  expect(warnings[0]).toContain("nothing from the server");
});

test("a slow consumer is not mistaken for a silent server", async () => {
  const scripted = new ScriptedClient([{ watch: [bookmark("9", true), added("a", "10")] }]);
  const clock = new ManualClock();
  const stop = new AbortController();
  const options = { clock, list: "stream", signal: stop.signal } as const;
  const events = new Reflector(scripted.client, pods, options)[Symbol.asyncIterator]();
  for (const type of ["init", "initDone", "apply"]) {
    expect((await events.next()).value?.type).toBe(type);
    await clock.pass(600_000);
  }
  expect(scripted.watches).toHaveLength(1);
  stop.abort();
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

test("failures are retried forever, with growing delays up to a limit", async () => {
  const fail = new KubeError("KUBE_CONNECTION", "refused");
  const { scripted, clock } = run(
    Array.from({ length: 200 }, () => ({ fail })),
    {
      list: "pages",
    },
  );
  const times: number[] = [];
  let seen = 0;
  for (let second = 0; second < 120; second++) {
    await clock.pass(500);
    if (scripted.lists.length > seen) times.push(clock.now());
    seen = scripted.lists.length;
  }
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(gaps.slice(0, 3)).toEqual([1_000, 1_500, 3_000]);
  expect(Math.max(...gaps)).toBe(22_500);
  await clock.pass(3_600_000);
  expect(scripted.lists.length).toBeGreaterThan(160);
});

test("a server that ends each watch at once is not flooded", async () => {
  const watch = { watch: [bookmark("9", true)], end: "regular" } as const;
  const { scripted, clock } = run(Array.from({ length: 1_000 }, () => watch));
  await clock.pass(60_000);
  expect(scripted.watches.length).toBeLessThan(10);
});

test("the server's Retry-After is honoured", async () => {
  const busy = new KubeError("KUBE_STATUS", "busy", { status: 429, retryAfterSeconds: 60 });
  const { scripted, clock } = run([{ fail: busy }, { watch: [] }]);
  await clock.pass(59_000);
  expect(scripted.watches).toHaveLength(1);
  await clock.pass(2_000);
  expect(scripted.watches).toHaveLength(2);
});

test("a list whose pages expire starts over, and finally without pages", async () => {
  const { scripted, clock, told } = run(
    [
      page([object("a", "1")], "next"),
      { fail: expired },
      page([object("a", "1")], "next"),
      { fail: expired },
      page([object("a", "1"), object("b", "2")]),
    ],
    { list: "pages" },
  );
  await clock.pass(3_000);
  expect(told.slice(-4)).toEqual(["init", "apply a", "apply b", "initDone"]);
  expect(scripted.lists.at(-1)?.limit).toBeUndefined();
});

test("managed fields are dropped; a custom transform replaces that", async () => {
  const managed = { metadata: { name: "a", resourceVersion: "1", managedFields: [{}] } };
  const script = () => [
    { list: { items: [structuredClone(managed)], metadata: { resourceVersion: "2" } } },
  ];
  const seen: KubeObject[] = [];
  for (const transform of [undefined, (it: KubeObject) => ({ ...it, kind: "Mine" })]) {
    const stop = new AbortController();
    const { client } = new ScriptedClient(script());
    const options = { list: "pages", transform, signal: stop.signal } as const;
    for await (const event of new Reflector(client, pods, options)) {
      if (event.type === "apply") seen.push(event.object);
      if (event.type === "initDone") break;
    }
  }
  expect(seen).toEqual([
    { metadata: { name: "a", resourceVersion: "1" } },
    { kind: "Mine", metadata: managed.metadata },
  ]);
});

test("reports how long it has heard nothing", async () => {
  const watch = [bookmark("9", true)];
  const { clock, reflector } = run([{ watch, end: reset }], { silenceLimit: 1e9 });
  await clock.pass(1_000);
  expect(reflector.blindFor()).toBe(1_000);
  await clock.pass(600_000);
  expect(reflector.blindFor()).toBe(601_000);
});

test("a server that has nothing to report for long, not even a bookmark, is heard whenever it accepts a watch", async () => {
  const quiet = Array.from({ length: 6 }, () => ({ watch: [] }));
  const { clock, reflector, scripted } = run([{ watch: [bookmark("9", true)] }, ...quiet]);
  // Silent watches are closed and made again: the server lives, and a health check must not say otherwise.
  for (let minute = 0; minute < 10; minute++) {
    await clock.pass(60_000);
    expect(reflector.blindFor()).toBeLessThan(130_000);
  }
  expect(scripted.watches.length).toBeGreaterThan(4);
  // The control: nobody accepts the watch any more.
  await clock.pass(900_000);
  expect(reflector.blindFor()).toBeGreaterThan(300_000);
});

test("a second consumer is rejected", async () => {
  const { reflector, clock } = run([{ watch: [] }]);
  await clock.pass(0);
  await expect(reflector[Symbol.asyncIterator]().next()).rejects.toThrow("one consumer");
});
