import assert from "node:assert/strict";
import type { AnyObject } from "../kind.ts";
import {
  type CheckContext,
  configMaps,
  idlePod,
  named,
  pods,
  refusal,
  refused,
  type ServerCheck,
} from "./server-check.ts";

async function bind(
  { client, namespace }: CheckContext,
  name: string,
  node: string,
): Promise<void> {
  const target = { apiVersion: "v1", kind: "Node", name: node };
  const binding = { apiVersion: "v1", kind: "Binding", metadata: { namespace, name }, target };
  await client.create(pods, binding as AnyObject, { subresource: "binding" });
}

/** Deletion, grace periods, finalizers, bindings and evictions. */
export const deleteChecks: readonly ServerCheck[] = [
  {
    name: "delete removes an object at once if nothing holds it",
    async check(context) {
      const { client, namespace } = context;
      await client.create(configMaps, named(context, "a"));
      await client.delete(configMaps, { namespace, name: "a" });
      await refused(client.get(configMaps, { namespace, name: "a" }), 404, "NotFound");
      await refused(client.delete(configMaps, { namespace, name: "a" }), 404, "NotFound");
    },
  },
  {
    name: "delete of another object under the same name is a conflict",
    async check(context) {
      const { client, namespace } = context;
      await client.create(configMaps, named(context, "a"));
      const preconditions = { uid: "00000000-0000-4000-8000-000000000000" };
      const request = client.delete(configMaps, { namespace, name: "a" }, { preconditions });
      await refused(request, 409, "Conflict");
    },
  },
  {
    name: "finalizers keep an object, no more can be added, and removing the last one deletes it",
    async check(context) {
      const { client, namespace } = context;
      const at = { namespace, name: "a" };
      const metadata = { finalizers: ["virtkit.dev/one"] };
      const made = await client.create(configMaps, named(context, "a", { metadata }));
      await client.delete(configMaps, at);
      const marked = await client.get(configMaps, at);
      assert.ok(marked.metadata.deletionTimestamp);
      assert.notEqual(marked.metadata.resourceVersion, made.metadata.resourceVersion);
      const more = { ...marked.metadata, finalizers: ["virtkit.dev/one", "virtkit.dev/two"] };
      await refused(client.update(configMaps, { ...marked, metadata: more }), 422, "Invalid");
      await client.update(configMaps, {
        ...marked,
        metadata: { ...marked.metadata, finalizers: [] },
      });
      await refused(client.get(configMaps, at), 404, "NotFound");
    },
  },
  {
    name: "an update can neither set nor undo a deletion",
    async check(context) {
      const { client, namespace } = context;
      const at = { namespace, name: "a" };
      const metadata = { finalizers: ["virtkit.dev/one"] };
      await client.create(configMaps, named(context, "a", { metadata }));
      await client.delete(configMaps, at);
      const marked = await client.get(configMaps, at);
      const { deletionTimestamp, ...without } = marked.metadata;
      const updated = await client.update(configMaps, { ...marked, metadata: without });
      const { metadata: kept }: AnyObject = updated;
      assert.equal(kept.deletionTimestamp, deletionTimestamp);
      await client.patch(configMaps, at, {
        type: "merge",
        body: { metadata: { finalizers: null } },
      });
    },
  },
  {
    name: "a Pod without a node is removed at once; one with a node stays for its grace period",
    async check(context) {
      const { client, namespace } = context;
      await client.create(pods, idlePod(context, "free"));
      await client.delete(pods, { namespace, name: "free" });
      await refused(client.get(pods, { namespace, name: "free" }), 404, "NotFound");
      const spec = { terminationGracePeriodSeconds: 77 };
      await client.create(pods, idlePod(context, "bound", { spec }));
      await bind(context, "bound", "node-1");
      const at = { namespace, name: "bound" };
      assert.equal((await client.get(pods, at)).spec?.["nodeName"], "node-1");
      await client.delete(pods, at);
      const leaving = await client.get(pods, at);
      assert.equal(leaving.metadata.deletionGracePeriodSeconds, 77);
      await client.delete(pods, at, { gracePeriodSeconds: 0 });
      await refused(client.get(pods, at), 404, "NotFound");
    },
  },
  {
    name: "a second deletion can only shorten a grace period",
    async check(context) {
      const { client, namespace } = context;
      const at = { namespace, name: "p" };
      await client.create(pods, idlePod(context, "p"));
      await bind(context, "p", "node-1");
      await client.delete(pods, at, { gracePeriodSeconds: 50 });
      await client.delete(pods, at, { gracePeriodSeconds: 500 });
      assert.equal((await client.get(pods, at)).metadata.deletionGracePeriodSeconds, 50);
      await client.delete(pods, at, { gracePeriodSeconds: 5 });
      assert.equal((await client.get(pods, at)).metadata.deletionGracePeriodSeconds, 5);
      await client.delete(pods, at, { gracePeriodSeconds: 0 });
    },
  },
  {
    name: "a Pod with a finalizer stays after its grace period has ended",
    async check(context) {
      const { client, namespace } = context;
      const at = { namespace, name: "p" };
      const metadata = { finalizers: ["virtkit.dev/one"] };
      await client.create(pods, idlePod(context, "p", { metadata }));
      await client.delete(pods, at, { gracePeriodSeconds: 0 });
      assert.ok((await client.get(pods, at)).metadata.deletionTimestamp);
      await client.patch(pods, at, { type: "merge", body: { metadata: { finalizers: null } } });
      await refused(client.get(pods, at), 404, "NotFound");
    },
  },
  {
    name: "a Pod is bound once",
    async check(context) {
      const { client, namespace } = context;
      await client.create(pods, idlePod(context, "p"));
      await bind(context, "p", "node-1");
      const found = await client.get(pods, { namespace, name: "p" });
      assert.equal(found.spec?.["nodeName"], "node-1");
      const error = await refusal(bind(context, "p", "node-2"));
      assert.deepEqual([error.status, error.reason], [409, "Conflict"]);
      await client.delete(pods, { namespace, name: "p" }, { gracePeriodSeconds: 0 });
    },
  },
  {
    name: "an eviction deletes the Pod",
    async check(context) {
      const { client, namespace } = context;
      await client.create(pods, idlePod(context, "p"));
      const metadata = { namespace, name: "p" };
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata };
      await client.create(pods, eviction, { subresource: "eviction" });
      await refused(client.get(pods, metadata), 404, "NotFound");
    },
  },
  {
    name: "an eviction by UID leaves a later Pod of the same name",
    async check(context) {
      const { client, namespace } = context;
      const { metadata: created } = await client.create(pods, idlePod(context, "p"));
      const metadata = { namespace, name: "p" };
      const evict = (uid: string | undefined) => {
        const deleteOptions = { preconditions: { uid } };
        const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata, deleteOptions };
        return client.create(pods, eviction, { subresource: "eviction" });
      };
      await refused(evict("another"), 409, "Conflict");
      await evict(created.uid);
      await refused(client.get(pods, metadata), 404, "NotFound");
    },
  },
];
