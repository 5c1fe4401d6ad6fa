import type { Log } from "@virtkit/api/observe";
import { silentLog } from "@virtkit/api/observe";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Cache } from "../cache/cache.ts";
import { HttpClient } from "../client/http-client.ts";
import type { KubeClient } from "../client/kube-client.ts";
import {
  type ConfigMap,
  configMap,
  configMaps,
  createNamespace,
  forEach,
  versionsOf,
} from "../testing/config-maps.ts";
import { FaultProxy } from "../testing/fault-proxy.ts";
import { RealApiServer } from "../testing/real-api-server.ts";
import { Reflector } from "./reflector.ts";
import type { ReflectorOptions } from "./reflector-options.ts";

let server: RealApiServer;
let direct: HttpClient;

beforeAll(async () => {
  server = await RealApiServer.start();
  direct = server.client();
}, 120_000);
afterAll(async () => {
  direct.close();
  await server[Symbol.asyncDispose]();
}, 60_000);

const soon = { timeout: 45_000, interval: 50 };
const quickly = { min: 50, max: 500 };

async function proxied(): Promise<{ proxy: FaultProxy; client: HttpClient }> {
  const proxy = await FaultProxy.start(server.connection);
  const client = new HttpClient(proxy.connection);
  onTestFinished(async () => {
    client.close();
    await proxy[Symbol.asyncDispose]();
  });
  return { proxy, client };
}

/** A cache of one namespace, and all that was said on the way. */
function follow(client: KubeClient, options: ReflectorOptions<ConfigMap>) {
  const stop = new AbortController();
  const warnings: string[] = [];
  const warn = (details: unknown): void => void warnings.push(JSON.stringify(details));
  const log: Log = { ...silentLog, warn, error: warn };
  const events: string[] = [];
  const reflector = new Reflector(client, configMaps, {
    backoff: quickly,
    log,
    signal: stop.signal,
    ...options,
  });
  const cache = new Cache(configMaps, { namespace: options.namespace, log });
  const running = (async () => {
    for await (const event of reflector) {
      events.push(event.type);
      cache.handle(event);
    }
  })();
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  return { cache, reflector, warnings, events };
}

/** Whether a cache knows just what there is. */
async function expectCurrent(cache: Cache<ConfigMap>, namespace: string): Promise<void> {
  const { items } = await direct.list(configMaps, { namespace });
  const known = () => {
    const listing = cache.list();
    return listing.state === "complete" ? versionsOf(listing.objects) : listing.state;
  };
  await expect.poll(known, soon).toEqual(versionsOf(items));
}

/** Creates, changes and deletes objects for a while. */
async function churn(namespace: string, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const name = `churn-${round % 7}`;
    const found = await direct.list(configMaps, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
    });
    if (found.items.length === 0) {
      await direct.create(configMaps, configMap(namespace, name, `${round}`));
    } else if (round % 5 === 4) await direct.delete(configMaps, { namespace, name });
    else {
      const body = { data: { value: `${round}` } };
      await direct.patch(configMaps, { namespace, name }, { type: "merge", body });
    }
  }
}

test("a connection cut in the middle of a line loses nothing", async () => {
  const namespace = "cut";
  await createNamespace(direct, namespace);
  const { proxy, client } = await proxied();
  const { cache, warnings, events } = follow(client, { namespace });
  await cache.synced();
  let line = 0;
  proxy.fault = (text) => (++line % 3 === 0 ? [text.slice(0, 40), undefined] : [`${text}\n`]);
  await churn(namespace, 60);
  proxy.heal();
  await expectCurrent(cache, namespace);
  expect(warnings.length).toBeGreaterThan(1);
  // It goes on where it was: only the first list was needed.
  expect(events.filter((type) => type === "init")).toHaveLength(1);
});

test("an unreadable line is reported, and everything is listed again", async () => {
  const namespace = "unreadable";
  await createNamespace(direct, namespace);
  const { proxy, client } = await proxied();
  const { cache, warnings, events } = follow(client, { namespace });
  await cache.synced();
  let line = 0;
  proxy.fault = (text) => [++line % 5 === 0 ? `${text.slice(0, 60)}\n` : `${text}\n`];
  await churn(namespace, 40);
  proxy.heal();
  await expectCurrent(cache, namespace);
  expect(warnings.join("\n")).toContain("KUBE_ANSWER_INVALID");
  expect(events.filter((type) => type === "init").length).toBeGreaterThan(1);
});

test("lines that arrive twice, late or out of order never take a cache back", async () => {
  const namespace = "duplicates";
  await createNamespace(direct, namespace);
  const { proxy, client } = await proxied();
  const { cache, events } = follow(client, { namespace });
  const versions = new Map<string, number>();
  let wentBack = 0;
  cache.subscribe(({ object }) => {
    if (!object) return;
    const { name = "", resourceVersion } = object.metadata;
    if (Number(resourceVersion) < (versions.get(name) ?? 0)) wentBack++;
    versions.set(name, Number(resourceVersion));
  });
  await cache.synced();
  const naive = new Map<string, number>();
  let naiveWentBack = 0;
  const earlier: string[] = [];
  proxy.fault = async (text) => {
    earlier.push(`${text}\n`);
    await new Promise((resolve) => setTimeout(resolve, earlier.length % 4));
    const isReplayed = earlier.length % 6 === 0;
    const sent = [`${text}\n`, `${text}\n`, ...(isReplayed ? earlier.slice(-10, -9) : [])];
    // The control: what somebody who believes every line would have.
    for (const one of sent) {
      const { name, resourceVersion } = JSON.parse(one).object.metadata;
      if (Number(resourceVersion) < (naive.get(name) ?? 0)) naiveWentBack++;
      naive.set(name, Number(resourceVersion));
    }
    return sent;
  };
  await churn(namespace, 60);
  proxy.heal();
  await expectCurrent(cache, namespace);
  expect(wentBack).toBe(0);
  expect(naiveWentBack).toBeGreaterThan(0);
  expect(events.filter((type) => type === "init").length).toBeGreaterThan(1);
});

test("a silent connection is noticed; control: without the check, it is not", async () => {
  const namespace = "stalled";
  await createNamespace(direct, namespace);
  const { proxy, client } = await proxied();
  const watched = follow(client, { namespace, silenceLimit: 2_000 });
  const control = follow(client, { namespace, silenceLimit: 3_600_000 });
  await Promise.all([watched.cache.synced(), control.cache.synced()]);
  await expect.poll(() => proxy.watches, soon).toBe(2);
  proxy.fault = (text) => (proxy.watches > 2 ? [`${text}\n`] : []);
  await direct.create(configMaps, configMap(namespace, "unseen", "1"));
  await expectCurrent(watched.cache, namespace);
  expect(watched.warnings.join("\n")).toContain("nothing from the server");
  expect(control.cache.get({ namespace, name: "unseen" })).toEqual({ state: "absent" });
});

test("finds an API server again that was killed and restarted, and loses nothing", async () => {
  const namespace = "killed";
  await createNamespace(direct, namespace);
  await direct.create(configMaps, configMap(namespace, "before", "1"));
  const { cache, reflector, events, warnings } = follow(direct, { namespace });
  await cache.synced();
  await server.kill();
  await expect.poll(() => warnings.length, soon).toBeGreaterThan(0);
  expect(cache.get({ namespace, name: "before" })).toMatchObject({ state: "present" });
  await server.startAgain();
  await direct.create(configMaps, configMap(namespace, "after", "1"));
  await direct.delete(configMaps, { namespace, name: "before" });
  await expectCurrent(cache, namespace);
  expect(events).toContain("apply");
  expect(reflector.blindFor()).toBeLessThan(60_000);
}, 120_000);

test("a compacted version leads to a new list, which finds what was deleted", async () => {
  const namespace = "compacted";
  await createNamespace(direct, namespace);
  for (const name of ["gone", "kept"]) {
    await direct.create(configMaps, configMap(namespace, name, "1"));
  }
  // Without its cache the server asks etcd for each version, which has forgotten it.
  await server.kill();
  await server.startAgain(["--watch-cache-sizes=configmaps#0"]);
  const { proxy, client } = await proxied();
  const { cache, warnings, events } = follow(client, { namespace });
  await cache.synced();
  const ended: (string | undefined)[] = [];
  cache.subscribe((change) => {
    if (change.type === "deleted") ended.push(change.old.metadata.name);
  });
  await expect.poll(() => proxy.watches, soon).toBeGreaterThan(0);
  proxy.goDown();
  await direct.delete(configMaps, { namespace, name: "gone" });
  await direct.create(configMaps, configMap(namespace, "new", "1"));
  await server.compact();
  proxy.heal();
  await expectCurrent(cache, namespace);
  expect(warnings.join("\n")).toContain("410 Expired");
  expect(events.filter((type) => type === "init").length).toBeGreaterThan(1);
  expect(ended).toEqual(["gone"]);
  await server.kill();
  await server.startAgain();
}, 180_000);

test("10,000 objects arrive in pages, each once", async () => {
  const namespace = "many";
  const count = 10_000;
  await createNamespace(direct, namespace);
  await forEach(count, (index) =>
    direct.create(configMaps, configMap(namespace, `object-${index}`, "x".repeat(2_500))),
  );
  const { cache, events, warnings } = follow(direct, { namespace });
  await cache.synced();
  expect(cache.size).toBe(count);
  expect(events.filter((type) => type === "apply")).toHaveLength(count);
  await expectCurrent(cache, namespace);
  expect(warnings).toEqual([]);
}, 300_000);

test("a list is requested as a stream, and in pages where the server cannot end the stream", async () => {
  const namespace = "streamed";
  await createNamespace(direct, namespace);
  await direct.create(configMaps, configMap(namespace, "a", "1"));
  const { cache, warnings } = follow(direct, { namespace, list: "stream", silenceLimit: 5_000 });
  await cache.synced();
  await direct.create(configMaps, configMap(namespace, "b", "1"));
  await expectCurrent(cache, namespace);
  // With an etcd that can tell its progress there is nothing to warn of.
  for (const warning of warnings) expect(warning).toMatch(/Too large resource|nothing from/);
});
