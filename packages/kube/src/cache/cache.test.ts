import { silentLog } from "@virtkit/api/observe";
import { expect, expectTypeOf, test } from "vitest";
import type { KubeObject } from "../client/kube-object.ts";
import { defineResource } from "../client/resource.ts";
import { Cache } from "./cache.ts";
import type { CacheChange } from "./cache-change.ts";
import type { Lookup } from "./lookup.ts";

interface Pod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
}
const pods = defineResource<Pod>({ version: "v1", plural: "pods", kind: "Pod" });

function pod(name: string, { version = "1", node = "n1", uid = `uid-${name}` } = {}): Pod {
  const metadata = { name, namespace: "default", uid, resourceVersion: version };
  return { metadata, spec: { nodeName: node } };
}
const byNode = { node: (it: Pod) => (it.spec?.nodeName ? [it.spec.nodeName] : []) };
const names = (objects: readonly Pod[]) => objects.map(({ metadata }) => metadata.name);

/** A cache that has synced with these objects, and what it said since. */
function synced(...objects: Pod[]) {
  const cache = new Cache(pods, { indexes: byNode });
  cache.handle({ type: "init" });
  for (const object of objects) cache.handle({ type: "apply", object });
  cache.handle({ type: "initDone" });
  const changes: string[] = [];
  const stop = cache.subscribe((change) => {
    const { metadata } = change.type === "deleted" ? change.old : change.object;
    changes.push(`${change.type} ${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`);
  });
  changes.length = 0;
  return { cache, changes, stop };
}

test("an object it has not seen is unknown before the first sync and absent after it", () => {
  const cache = new Cache(pods);
  const [a, b] = ["a", "b"].map((name) => ({ namespace: "default", name }));
  if (!a || !b) throw new Error("two names");
  expect(cache.get(a)).toEqual({ state: "unknown" });
  cache.handle({ type: "init" });
  cache.handle({ type: "apply", object: pod("a") });
  expect(cache.get(a)).toMatchObject({ state: "present" });
  expect(cache.get(b)).toEqual({ state: "unknown" });
  expect(cache.list()).toMatchObject({ state: "incomplete", seen: [{}] });
  expect(cache.hasSynced).toBe(false);
  cache.handle({ type: "initDone" });
  expect(cache.hasSynced).toBe(true);
  expect(cache.get(b)).toEqual({ state: "absent" });
  expect(cache.list()).toMatchObject({ state: "complete", objects: [{}] });
});

test("the type makes a caller handle the third answer", () => {
  const found = new Cache(pods).get({ name: "a" });
  expectTypeOf(found).toEqualTypeOf<Lookup<Pod>>();
  // @ts-expect-error: there is an object only where it is present
  expect(found.object).toBeUndefined();
});

test("a cache of one namespace knows nothing about other namespaces", () => {
  const cache = new Cache(pods, { namespace: "default" });
  cache.handle({ type: "init" });
  cache.handle({ type: "initDone" });
  expect(cache.get({ namespace: "default", name: "a" }).state).toBe("absent");
  expect(cache.get({ namespace: "other", name: "a" }).state).toBe("unknown");
  expect(cache.list({ namespace: "other" }).state).toBe("incomplete");
  expect(cache.list().state).toBe("complete");
});

test("an index finds objects by their current values", () => {
  const { cache } = synced(pod("a"), pod("b"), pod("c", { node: "n2" }));
  const on = (node: string) => {
    const found = cache.byIndex("node", node);
    return found.state === "complete" ? names(found.objects) : found.state;
  };
  expect(on("n1")).toEqual(["a", "b"]);
  cache.handle({ type: "apply", object: pod("b", { version: "2", node: "n2" }) });
  cache.handle({ type: "delete", object: pod("a", { version: "3" }) });
  expect(on("n1")).toEqual([]);
  expect(on("n2")).toEqual(["c", "b"]);
  // @ts-expect-error: the name of an index is part of the type
  expect(() => cache.byIndex("other", "x")).toThrow('no index "other"; this cache has: node');
});

test("subscribers receive each change with the old and the new object", () => {
  const cache = new Cache(pods);
  const changes: CacheChange<Pod>[] = [];
  const stop = cache.subscribe((change) => changes.push(change));
  const [first, second, last] = ["1", "2", "3"].map((version) => pod("a", { version }));
  if (!first || !second || !last) throw new Error("three versions");
  cache.handle({ type: "apply", object: first });
  cache.handle({ type: "apply", object: second });
  cache.handle({ type: "delete", object: last });
  stop();
  cache.handle({ type: "apply", object: first });
  expect(changes).toEqual([
    { type: "added", object: first },
    { type: "updated", object: second, old: first },
    { type: "deleted", old: last },
  ]);
});

test("a late subscriber receives the objects that already exist", () => {
  const { cache } = synced(pod("a"), pod("b"));
  const seen: string[] = [];
  cache.subscribe((change) => void seen.push(`${change.type} ${change.object?.metadata.name}`));
  expect(seen).toEqual(["added a", "added b"]);
});

test("a new snapshot reports only differences, including deletions that nobody saw", () => {
  const { cache, changes } = synced(pod("a"), pod("b"), pod("c"));
  cache.handle({ type: "init" });
  cache.handle({ type: "apply", object: pod("a") });
  cache.handle({ type: "apply", object: pod("c", { version: "2" }) });
  expect(cache.get({ namespace: "default", name: "b" }).state).toBe("present");
  cache.handle({ type: "initDone" });
  expect(changes).toEqual(["updated c uid-c 2", "deleted b uid-b 1"]);
});

test("a snapshot that starts over forgets what it had collected", () => {
  const { cache, changes } = synced(pod("a"), pod("b"));
  cache.handle({ type: "init" });
  cache.handle({ type: "apply", object: pod("a") });
  cache.handle({ type: "init" });
  cache.handle({ type: "apply", object: pod("b") });
  cache.handle({ type: "initDone" });
  expect(changes).toEqual(["deleted a uid-a 1"]);
});

test("an object deleted while a snapshot is taken counts as deleted", () => {
  const { cache, changes } = synced(pod("a"));
  cache.handle({ type: "init" });
  cache.handle({ type: "apply", object: pod("a") });
  cache.handle({ type: "delete", object: pod("a", { version: "2" }) });
  cache.handle({ type: "initDone" });
  expect(changes).toEqual(["deleted a uid-a 2"]);
  expect(cache.size).toBe(0);
});

test("an object replaced by another with the same name is a deletion and an addition", () => {
  const { cache, changes } = synced(pod("a"));
  cache.handle({ type: "apply", object: pod("a", { uid: "other", version: "5" }) });
  expect(changes).toEqual(["deleted a uid-a 1", "added a other 5"]);
});

test("a listener that throws is logged and affects no other listener", () => {
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (details: unknown) => void errors.push(details) };
  const cache = new Cache(pods, { log });
  const seen: string[] = [];
  cache.subscribe(() => {
    throw new Error("broken");
  });
  cache.subscribe(({ type }) => void seen.push(type));
  cache.handle({ type: "apply", object: pod("a") });
  expect(seen).toEqual(["added"]);
  expect(errors).toEqual([{ key: "default/a", change: "added", error: "Error: broken" }]);
});

test("an index that throws is logged and stops nothing", () => {
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (details: unknown) => void errors.push(details) };
  const broken = (it: Pod): string[] => {
    if (it.metadata.name === "a") throw new Error("broken");
    return ["x"];
  };
  const cache = new Cache(pods, { log, indexes: { broken } });
  cache.handle({ type: "init" });
  for (const name of ["a", "b"]) cache.handle({ type: "apply", object: pod(name) });
  cache.handle({ type: "initDone" });
  expect(cache.get({ namespace: "default", name: "a" }).state).toBe("present");
  expect(cache.byIndex("broken", "x")).toMatchObject({ objects: [{ metadata: { name: "b" } }] });
  expect(errors).toEqual([{ key: "default/a", index: "broken", error: "Error: broken" }]);
});

test("a caller can wait for the sync, or until its signal aborts", async () => {
  const cache = new Cache(pods);
  const stop = new AbortController();
  const stopped = expect(cache.synced({ signal: stop.signal })).rejects.toThrow("enough");
  const waiting = cache.synced();
  stop.abort(new Error("enough"));
  await stopped;
  cache.handle({ type: "init" });
  cache.handle({ type: "initDone" });
  await waiting;
  await cache.synced();
});
