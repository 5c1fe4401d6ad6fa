import { ManualClock, sleep } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { Cache } from "../cache/cache.ts";
import { KubeError } from "../client/kube-error.ts";
import type { KubeObject } from "../client/kube-object.ts";
import { defineResource } from "../client/resource.ts";
import { MemoryClient } from "../testing/memory-client.ts";
import type { ControllerOptions } from "./controller-options.ts";
import { createController } from "./create-controller.ts";
import type { Reconciler } from "./reconciler.ts";
import { terminalError } from "./terminal-error.ts";
import { controllerOf, watch } from "./watch.ts";

interface Thing extends KubeObject {
  readonly spec?: { readonly size: number };
}
const things = defineResource<Thing>({
  group: "x.example",
  version: "v1",
  plural: "things",
  kind: "Thing",
});
const pods = defineResource({ version: "v1", plural: "pods", kind: "Pod" });
const namespace = "default";
const thing = (name: string, size = 1): Thing => ({
  metadata: { namespace, name },
  spec: { size },
});

/** A controller of things in memory, whose log and metrics are kept. */
function setUp(reconcile: Reconciler, options: Partial<ControllerOptions> = {}) {
  const clock = new ManualClock();
  const client = new MemoryClient();
  const cache = new Cache(things);
  const lines: Record<string, unknown>[] = [];
  const say =
    (level: string) =>
    (details: object | string, message?: string): void => {
      if (typeof details === "string") lines.push({ level, message: details });
      else lines.push({ level, message, ...details });
    };
  const log = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") };
  const counts: Record<string, number> = {};
  const metrics = {
    count: (name: string, labels: Record<string, string> = {}) => {
      const key = [name, ...Object.values(labels)].join(" ");
      counts[key] = (counts[key] ?? 0) + 1;
    },
    observe: () => {},
  };
  let ids = 0;
  const random = { number: () => 0.5, uuid: () => `id-${++ids}` };
  const base = {
    name: "demo",
    client,
    watches: [watch(cache)],
    reconcile,
    clock,
    random,
    log,
    metrics,
  };
  const controller = createController({ ...base, ...options });
  return { clock, client, cache, lines, counts, controller };
}

/** Remembers when it was called for what. */
function recorder(clock: () => ManualClock, then: Reconciler = async () => {}) {
  const calls: string[] = [];
  const reconcile: Reconciler = async (object, context) => {
    calls.push(`${clock().now()} ${object.name}`);
    return await then(object, context);
  };
  return { calls, reconcile };
}

test("existing and changed objects are reconciled once each", async () => {
  const { calls, reconcile } = recorder(() => clock);
  const { clock, client, controller } = setUp(reconcile);
  await client.create(things, thing("a"));
  const running = controller.run();
  await clock.pass(10);
  await client.create(things, thing("b"));
  await clock.pass(10);
  await client.update(things, thing("b", 2));
  await clock.pass(10);
  await client.delete(things, { namespace, name: "a" });
  await clock.pass(10);
  expect(calls).toEqual(["0 a", "10 b", "20 b", "30 a"]);
  await controller.stop();
  await running;
  expect(clock.pending).toBe(0);
});

test("nothing is reconciled before all watches have synced", async () => {
  const { calls, reconcile } = recorder(() => clock);
  const { clock, client, cache, controller } = setUp(reconcile, {});
  const slowCache = new Cache(pods);
  const both = createController({
    name: "both",
    client,
    clock,
    reconcile,
    watches: [watch(cache), watch(slowCache, { follow: false })],
  });
  await client.create(things, thing("a"));
  const running = both.run();
  await clock.pass(60_000);
  expect(calls).toEqual([]);
  slowCache.handle({ type: "init" });
  slowCache.handle({ type: "initDone" });
  await clock.pass(1);
  expect(calls).toEqual(["60000 a"]);
  await both.stop();
  await running;
  expect(controller.problems()).toEqual([]);
});

test("a second run lists again before it reconciles, even though the cache holds older objects", async () => {
  const { calls, reconcile } = recorder(() => clock);
  const { clock, client, controller } = setUp(reconcile);
  await client.create(things, thing("a"));
  for (const _ of [1, 2]) {
    const stop = new AbortController();
    const running = controller.run({ signal: stop.signal });
    await clock.pass(10);
    stop.abort();
    await running;
  }
  expect(calls).toEqual(["0 a", "10 a"]);
});

test("an object is reconciled when something it owns changes, and not for objects of other owners", async () => {
  const { calls, reconcile } = recorder(() => clock);
  const podCache = new Cache(pods);
  const watches = [watch(podCache, { keys: controllerOf(things) })];
  const { clock, client, controller } = setUp(reconcile, { watches });
  const running = controller.run();
  await clock.pass(10);
  const owner = {
    apiVersion: "x.example/v2",
    kind: "Thing",
    name: "a",
    uid: "1",
    controller: true,
  };
  const others = { ...owner, apiVersion: "y.example/v1", name: "b" };
  const pod = (name: string, ownerReferences: (typeof owner)[]): KubeObject => ({
    metadata: { namespace, name, ownerReferences },
  });
  await client.create(pods, pod("p", [owner]));
  await client.create(pods, pod("q", [others]));
  await client.create(pods, pod("r", [{ ...owner, controller: false }]));
  await clock.pass(10);
  expect(calls).toEqual(["10 a"]);
  // It moves to another owner: both are told.
  await client.update(pods, pod("p", [{ ...owner, name: "c" }]));
  await clock.pass(10);
  expect(calls).toEqual(["10 a", "20 c", "20 a"]);
  await controller.stop();
  await running;
});

test("a predicate and a filter leave out irrelevant objects", async () => {
  const { calls, reconcile } = recorder(() => clock);
  const cache = new Cache(things);
  const predicate = (change: { object?: Thing | undefined }): boolean =>
    change.object?.spec?.size !== 0;
  const { clock, client, controller } = setUp(reconcile, {
    watches: [watch(cache, { predicate })],
    filter: ({ name }) => name !== "other",
  });
  const running = controller.run();
  await clock.pass(10);
  await client.create(things, thing("a"));
  await client.create(things, thing("small", 0));
  await client.create(things, thing("other"));
  await clock.pass(10);
  expect(calls).toEqual(["10 a"]);
  await controller.stop();
  await running;
});

test("an error is retried with a delay that doubles, and logged with key and reconcile ID", async () => {
  const { calls, reconcile } = recorder(
    () => clock,
    async (_object, { attempt }) => {
      if (attempt < 4) throw new Error(`broken ${attempt}`);
    },
  );
  const backoff = { firstDelay: 100 };
  const { clock, client, controller, lines, counts } = setUp(reconcile, { backoff });
  await client.create(things, thing("a"));
  const running = controller.run();
  await clock.pass(10_000);
  expect(calls).toEqual(["0 a", "100 a", "300 a", "700 a"]);
  expect(lines.filter(({ level }) => level === "warn")[1]).toEqual({
    level: "warn",
    message: "the reconcile failed; retrying",
    controller: "demo",
    key: "default/a",
    reconcileId: "id-2",
    attempt: 2,
    seconds: 0,
    error: "Error: broken 2",
  });
  expect(counts).toMatchObject({
    "kube_reconciles demo error": 3,
    "kube_reconciles demo success": 1,
    "kube_queue_retries demo": 3,
  });
  await controller.stop();
  await running;
});

test("a synchronous throw is contained as well", async () => {
  const { calls, reconcile } = recorder(() => clock);
  const thrower: Reconciler = (object, context) => {
    if (object.name === "bad") throw new TypeError("not even a promise");
    return reconcile(object, context);
  };
  const { clock, client, controller } = setUp(thrower);
  await client.create(things, thing("bad"));
  await client.create(things, thing("good"));
  const running = controller.run();
  await clock.pass(1_000);
  expect(calls).toEqual(["0 good"]);
  await controller.stop();
  await running;
});

test("a terminal error is reported once, and the object is left alone until it changes", async () => {
  const { calls, reconcile } = recorder(
    () => clock,
    async () => {
      throw terminalError("size must be positive", { path: "spec.size" });
    },
  );
  const { clock, client, controller, lines } = setUp(reconcile);
  await client.create(things, thing("a", -1));
  const running = controller.run();
  await clock.pass(3_600_000);
  expect(calls).toEqual(["0 a"]);
  expect(lines.filter(({ level }) => level === "error")).toMatchObject([
    { error: "KUBE_TERMINAL: size must be positive", message: "the reconcile failed for good" },
  ]);
  await client.update(things, thing("a", -2));
  await clock.pass(1);
  expect(calls).toEqual(["0 a", "3600000 a"]);
  await controller.stop();
  await running;
});

test("requeueAfter and a server's Retry-After are both honoured", async () => {
  let first = true;
  const { calls, reconcile } = recorder(
    () => clock,
    async () => {
      if (!first) return { requeueAfter: 5_000 };
      first = false;
      throw new KubeError("KUBE_STATUS", "busy", { status: 429, retryAfterSeconds: 3 });
    },
  );
  const { clock, client, controller } = setUp(reconcile);
  await client.create(things, thing("a"));
  const running = controller.run();
  await clock.pass(13_000);
  expect(calls).toEqual(["0 a", "3000 a", "8000 a", "13000 a"]);
  await controller.stop();
  await running;
});

test("one worker at a time handles an object, and other objects are reconciled in parallel", async () => {
  let most = 0;
  const atWork = new Map<string, number>();
  const { calls, reconcile } = recorder(
    () => clock,
    async ({ name }) => {
      atWork.set(name, (atWork.get(name) ?? 0) + 1);
      most = Math.max(most, ...atWork.values());
      await sleep(clock, 100);
      atWork.set(name, (atWork.get(name) ?? 0) - 1);
    },
  );
  const { clock, client, controller } = setUp(reconcile, { concurrency: 3 });
  for (const name of ["a", "b"]) await client.create(things, thing(name));
  const running = controller.run();
  await clock.pass(50);
  await client.update(things, thing("a", 2));
  await clock.pass(1_000);
  expect(calls).toEqual(["0 a", "0 b", "100 a"]);
  expect(most).toBe(1);
  await controller.stop();
  await running;
});

test("a reconcile that takes too long is aborted and retried", async () => {
  const { calls, reconcile } = recorder(
    () => clock,
    async (_object, { signal, attempt }) => {
      if (attempt > 1) return;
      await sleep(clock, 1_000_000, signal);
      signal.throwIfAborted();
    },
  );
  const { clock, client, controller, lines } = setUp(reconcile, { deadline: 500 });
  await client.create(things, thing("a"));
  const running = controller.run();
  await clock.pass(1_000);
  expect(calls).toEqual(["0 a", "505 a"]);
  expect(lines.find(({ level }) => level === "warn")).toMatchObject({
    error: "KUBE_TIMEOUT: not done within 500 ms",
  });
  await controller.stop();
  await running;
});

test("a reconcile that ignores its signal is not started twice, and health checks report it", async () => {
  const { calls, reconcile } = recorder(
    () => clock,
    async () => await sleep(clock, 60_000),
  );
  const { clock, client, controller, lines } = setUp(reconcile, { deadline: 500 });
  await client.create(things, thing("a"));
  const running = controller.run();
  await clock.pass(100);
  await client.update(things, thing("a", 2));
  await clock.pass(9_000);
  expect(controller.problems()).toEqual([]);
  await clock.pass(2_000);
  expect(calls).toEqual(["0 a"]);
  expect(controller.problems()).toEqual([
    "demo: the reconcile of default/a has not ended, although its deadline has passed",
  ]);
  expect(lines.filter(({ level }) => level === "error")).toHaveLength(1);
  await clock.pass(50_000);
  expect([calls, controller.problems()]).toEqual([["0 a", "60000 a"], []]);
  await clock.pass(100_000);
  await controller.stop();
  await running;
});

test("health checks report a watch that has been silent for too long", async () => {
  const { clock, controller } = setUp(async () => {}, { mostBlind: 60_000 });
  const running = controller.run();
  await clock.pass(60_000);
  expect(controller.problems()).toEqual([]);
  await clock.pass(1_000);
  expect(controller.problems()).toEqual([
    "demo: things (x.example/v1) has not heard from its server for 61000 ms",
  ]);
  await controller.stop();
  await running;
  expect(controller.problems()).toEqual([]);
});

test("a stop lets running reconciles finish and starts no others", async () => {
  const ended: string[] = [];
  const { calls, reconcile } = recorder(
    () => clock,
    async ({ name }, { signal }) => {
      await sleep(clock, 1_000, signal);
      ended.push(`${clock.now()} ${name} ${signal.aborted ? "aborted" : "finished"}`);
    },
  );
  const { clock, client, controller } = setUp(reconcile);
  for (const name of ["a", "b"]) await client.create(things, thing(name));
  const running = controller.run();
  await clock.pass(500);
  const stopping = controller.stop({ grace: 10_000 });
  await clock.pass(10_000);
  await Promise.all([stopping, running]);
  expect([calls, ended, clock.pending]).toEqual([["0 a"], ["1000 a finished"], 0]);
});

test("a stop aborts what still runs after the grace period; the signal aborts at once", async () => {
  for (const way of ["stop", "signal"]) {
    const ended: string[] = [];
    const { clock, client, controller, counts } = setUp(async (_object, { signal }) => {
      await sleep(clock, 1_000_000, signal);
      ended.push(`${clock.now()} ${signal.aborted}`);
      signal.throwIfAborted();
    });
    await client.create(things, thing("a"));
    const stop = new AbortController();
    const running = controller.run({ signal: stop.signal });
    await clock.pass(500);
    const stopping = way === "stop" ? controller.stop({ grace: 2_000 }) : stop.abort();
    await clock.pass(10_000);
    await Promise.all([stopping, running]);
    expect(ended).toEqual([way === "stop" ? "2500 true" : "500 true"]);
    expect(counts["kube_reconciles demo stopped"]).toBe(1);
    expect(clock.pending).toBe(0);
  }
});

test("a run whose signal is already aborted does nothing", async () => {
  const { calls, reconcile } = recorder(() => clock);
  const { clock, client, controller, cache } = setUp(reconcile);
  await controller.run({ signal: AbortSignal.abort() });
  cache.handle({ type: "apply", object: await client.create(things, thing("a")) });
  await clock.pass(1_000);
  expect([calls, clock.pending]).toEqual([[], 0]);
});

test("a broken watch ends the run with its error", async () => {
  const broken = {
    start: () => ({
      name: "broken",
      synced: new Promise<void>(() => {}),
      ended: Promise.reject(new Error("no more")),
      blindFor: () => 0,
    }),
  };
  const { controller, lines } = setUp(async () => {}, { watches: [broken] });
  await expect(controller.run()).rejects.toThrow("no more");
  expect(lines).toMatchObject([{ level: "error", watch: "broken", error: "Error: no more" }]);
});

test("a controller runs once at a time, and objects can be enqueued by hand", async () => {
  const { calls, reconcile } = recorder(() => clock);
  const { clock, controller } = setUp(reconcile);
  controller.enqueue({ namespace, name: "nobody" });
  const running = controller.run();
  await expect(controller.run()).rejects.toThrow("controller demo is already running");
  controller.enqueue({ namespace, name: "a" }, { after: 100 });
  controller.enqueue({ name: "cluster-wide" });
  await clock.pass(1_000);
  expect(calls).toEqual(["0 cluster-wide", "100 a"]);
  await controller.stop();
  await running;
});

test("objects are taken by priority, whatever enqueues them, even when they are retried", async () => {
  const { calls, reconcile } = recorder(
    () => clock,
    async ({ name }) => {
      await sleep(clock, 10);
      return name === "low" || name === "high" ? { requeueAfter: 100 } : undefined;
    },
  );
  const priority = ({ name }: { readonly name: string }) => (name === "high" ? "high" : "low");
  const { clock, controller } = setUp(reconcile, { watches: [], priority });
  const running = controller.run();
  for (const name of ["first", "low", "high"]) controller.enqueue({ name });
  await clock.pass(1_000);
  expect(calls.slice(0, 3)).toEqual(["0 high", "10 first", "20 low"]);
  await controller.stop();
  await running;
});
