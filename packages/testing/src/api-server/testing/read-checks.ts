import assert from "node:assert/strict";
import { configMaps, firstEvents, named, refused, type ServerCheck, told } from "./server-check.ts";

const names = (list: {
  readonly items: readonly { readonly metadata: { readonly name?: string } }[];
}) => list.items.map(({ metadata }) => metadata.name);

/** Lists and watches. */
export const readChecks: readonly ServerCheck[] = [
  {
    name: "lists are in order of names, by selector, and in pages of one version",
    async check(context) {
      const { client, namespace } = context;
      for (const name of ["c", "a", "b", "d"]) {
        const metadata = { labels: { odd: String(name < "b"), name } };
        await client.create(configMaps, named(context, name, { metadata }));
      }
      assert.deepEqual(names(await client.list(configMaps, { namespace, labelSelector: "odd" })), [
        "a",
        "b",
        "c",
        "d",
      ]);
      const selected = async (labelSelector: string) =>
        names(await client.list(configMaps, { namespace, labelSelector }));
      assert.deepEqual(await selected("odd=true"), ["a"]);
      assert.deepEqual(await selected("odd!=true,name in (b,c)"), ["b", "c"]);
      assert.deepEqual(await selected("odd,name notin (b,c)"), ["a", "d"]);
      const fieldSelector = "metadata.name=b";
      assert.deepEqual(names(await client.list(configMaps, { namespace, fieldSelector })), ["b"]);
      const first = await client.list(configMaps, { namespace, labelSelector: "odd", limit: 3 });
      await client.create(configMaps, named(context, "e", { metadata: { labels: { odd: "x" } } }));
      const { continue: token } = first.metadata;
      const page = { namespace, labelSelector: "odd", limit: 3, continue: token };
      const second = await client.list(configMaps, page);
      assert.deepEqual([...names(first), ...names(second)], ["a", "b", "c", "d"]);
      assert.equal(second.metadata.continue, undefined);
    },
  },
  {
    name: "selectors that cannot be parsed, or use fields that are not served, are bad requests",
    async check({ client, namespace }) {
      await refused(
        client.list(configMaps, { namespace, labelSelector: "a in b" }),
        400,
        "BadRequest",
      );
      await refused(
        client.list(configMaps, { namespace, fieldSelector: "data.x=1" }),
        400,
        "BadRequest",
      );
    },
  },
  {
    name: "a watch reports what has changed since a version, in order",
    async check(context) {
      const { client, namespace } = context;
      const { resourceVersion } = (await client.list(configMaps, { namespace })).metadata;
      const made = await client.create(configMaps, named(context, "a"));
      await client.update(configMaps, { ...made, data: { x: "1" } });
      await client.delete(configMaps, { namespace, name: "a" });
      await client.create(configMaps, named(context, "a"));
      const events = await firstEvents(context, configMaps, 4, { resourceVersion });
      assert.deepEqual(told(events), ["ADDED a", "MODIFIED a", "DELETED a", "ADDED a"]);
      const [first, , third, fourth] = events;
      assert.equal(first?.object.metadata.uid, third?.object.metadata.uid);
      assert.notEqual(third?.object.metadata.uid, fourth?.object.metadata.uid);
      const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
      assert.deepEqual(
        versions,
        versions.toSorted((one, other) => one - other),
      );
    },
  },
  {
    name: "a watch without a version first reports what exists",
    async check(context) {
      await context.client.create(
        configMaps,
        named(context, "a", { metadata: { labels: { own: "" } } }),
      );
      const events = await firstEvents(context, configMaps, 1, { labelSelector: "own" });
      assert.deepEqual(told(events), ["ADDED a"]);
    },
  },
  {
    name: "for a watch with a selector, an object that stops matching is deleted, and one that starts matching is added",
    async check(context) {
      const { client, namespace } = context;
      const { resourceVersion } = (await client.list(configMaps, { namespace })).metadata;
      await client.create(configMaps, named(context, "a"));
      const label = (value: string | null) => ({
        type: "merge" as const,
        body: { metadata: { labels: { own: value } } },
      });
      const at = { namespace, name: "a" };
      await client.patch(configMaps, at, label("1"));
      await client.patch(configMaps, at, label("2"));
      await client.patch(configMaps, at, label(null));
      await client.patch(configMaps, at, label("3"));
      await client.delete(configMaps, at);
      const options = { resourceVersion, labelSelector: "own" };
      const events = await firstEvents(context, configMaps, 5, options);
      assert.deepEqual(told(events), [
        "ADDED a",
        "MODIFIED a",
        "DELETED a",
        "ADDED a",
        "DELETED a",
      ]);
    },
  },
  {
    name: "a watch ends when its time is over",
    async check({ client, namespace }) {
      const { resourceVersion } = (await client.list(configMaps, { namespace })).metadata;
      const options = { namespace, resourceVersion, timeoutSeconds: 1 };
      for await (const event of client.watch(configMaps, options)) assert.fail(event.type);
    },
  },
];

/** Only if etcd reports its progress, which older ones do not: a real server may wait for that forever. */
export const streamingChecks: readonly ServerCheck[] = [
  {
    name: "a watch that streams existing objects marks their end",
    async check(context) {
      const { client, namespace } = context;
      await client.create(configMaps, named(context, "a", { metadata: { labels: { own: "" } } }));
      const stop = new AbortController();
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(30_000)]);
      const seen: string[] = [];
      const options = {
        ...{ namespace, labelSelector: "own", signal },
        ...{ allowBookmarks: true, sendInitialEvents: true },
      };
      const more = { resourceVersionMatch: "NotOlderThan" as const };
      for await (const event of client.watch(configMaps, { ...options, ...more })) {
        seen.push(event.type);
        const ended = event.object.metadata.annotations?.["k8s.io/initial-events-end"];
        if (event.type === "BOOKMARK" && ended === "true") break;
      }
      stop.abort();
      assert.deepEqual(seen, ["ADDED", "BOOKMARK"]);
    },
  },
];
