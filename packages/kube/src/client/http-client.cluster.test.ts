import { KubeConfig } from "@kubernetes/client-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConfigMap, configMap, configMaps, createNamespace } from "../testing/config-maps.ts";
import type { HttpClient } from "./http-client.ts";
import { isAlreadyExists, isConflict, isNotFound, type KubeError } from "./kube-error.ts";
import { kubeconfigClient } from "./kubeconfig.ts";

const namespace = "kube-http-client";
let client: HttpClient;

beforeAll(async () => {
  const config = new KubeConfig();
  config.loadFromFile(process.env["VIRTKIT_APISERVER_KUBECONFIG"] ?? "");
  client = kubeconfigClient(config);
  await createNamespace(client, namespace);
});
afterAll(() => client.close());

const named = (name: string) => ({ namespace, name });
const thrown = (promise: Promise<unknown>) => promise.catch((error: KubeError) => error);

test("creates, reads, changes and deletes an object on a real API server", async () => {
  const created = await client.create(configMaps, configMap(namespace, "a", "1"));
  expect(created.metadata.uid).toBeTruthy();
  expect(await client.get(configMaps, named("a"))).toEqual(created);
  const updated = await client.update(configMaps, { ...created, data: { value: "2" } });
  expect(updated.data).toEqual({ value: "2" });
  const patches = [
    { type: "json", operations: [{ op: "add", path: "/data/json", value: "x" }] },
    { type: "merge", body: { data: { merge: "x" } } },
    { type: "strategic", body: { data: { strategic: "x" } } },
    {
      type: "apply",
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { apply: "x" } },
      force: true,
    },
  ] as const;
  let last: ConfigMap = updated;
  for (const patch of patches) {
    last = await client.patch(configMaps, named("a"), patch, { fieldManager: "me" });
  }
  expect(last.data).toEqual({ value: "2", json: "x", merge: "x", strategic: "x", apply: "x" });
  await client.delete(configMaps, named("a"), { dryRun: true });
  expect(await client.get(configMaps, named("a"))).toEqual(last);
  await client.delete(configMaps, named("a"), { preconditions: { uid: created.metadata.uid } });
  expect(isNotFound(await thrown(client.get(configMaps, named("a"))))).toBe(true);
});

test("distinguishes the rejections of a real API server", async () => {
  const created = await client.create(configMaps, configMap(namespace, "b", "1"));
  const again = await thrown(client.create(configMaps, configMap(namespace, "b", "1")));
  expect(isAlreadyExists(again)).toBe(true);
  expect(isConflict(again)).toBe(false);
  await client.update(configMaps, { ...created, data: {} });
  expect(isConflict(await thrown(client.update(configMaps, created)))).toBe(true);
  const other = client.delete(configMaps, named("b"), { preconditions: { uid: "other" } });
  expect(isConflict(await thrown(other))).toBe(true);
  const invalid = await thrown(client.create(configMaps, configMap(namespace, "NOT A NAME", "")));
  expect(invalid).toMatchObject({ status: 422, causes: [{ field: "metadata.name" }] });
  const unserved = { ...configMaps, plural: "unheardofs" };
  expect(isNotFound(await thrown(client.get(unserved, named("b"))))).toBe(false);
});

test("pages follow one another, and a watch from the list's version reports what comes next", async () => {
  for (const name of ["p1", "p2", "p3"]) {
    await client.create(configMaps, configMap(namespace, name, "1"));
  }
  const first = await client.list(configMaps, { namespace, limit: 2 });
  const second = await client.list(configMaps, {
    namespace,
    limit: 2,
    continue: first.metadata.continue,
  });
  const all = await client.list(configMaps, { namespace });
  expect([...first.items, ...second.items]).toEqual(all.items.slice(0, 4));
  expect(all.items[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
  await client.delete(configMaps, named("p1"));
  const { resourceVersion } = all.metadata;
  const selected = { namespace, resourceVersion, fieldSelector: "metadata.name=p1" };
  for await (const event of client.watch(configMaps, selected)) {
    expect(event).toMatchObject({ type: "DELETED", object: { metadata: { name: "p1" } } });
    break;
  }
});
