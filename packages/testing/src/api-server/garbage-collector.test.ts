import { expect, test } from "vitest";
import { createTestCluster, type TestCluster } from "../cluster/create-test-cluster.ts";
import { configMaps, namespaces } from "./testing/server-check.ts";

const namespace = "default";

async function ownerAndDependent(cluster: TestCluster) {
  const client = cluster.client();
  const owner = await client.create(configMaps, { metadata: { namespace, name: "owner" } });
  const { uid = "" } = owner.metadata;
  const reference = {
    apiVersion: "v1",
    kind: "ConfigMap",
    name: "owner",
    uid,
    blockOwnerDeletion: true,
  };
  const metadata = { namespace, name: "own", ownerReferences: [reference] };
  await client.create(configMaps, { metadata });
  return client;
}

const names = async (cluster: TestCluster) =>
  (await cluster.client().list(configMaps)).items.map(({ metadata }) => metadata.name);

test("an object whose owner is gone is deleted", async () => {
  await using cluster = await createTestCluster();
  const client = await ownerAndDependent(cluster);
  await client.delete(configMaps, { namespace, name: "owner" });
  expect(await names(cluster)).toEqual(["own"]);
  await cluster.settle();
  expect(await names(cluster)).toEqual([]);
});

test("in the foreground, the owner goes last", async () => {
  await using cluster = await createTestCluster();
  const client = await ownerAndDependent(cluster);
  const body = { metadata: { finalizers: ["virtkit.dev/one"] } };
  await client.patch(configMaps, { namespace, name: "own" }, { type: "merge", body });
  await client.delete(
    configMaps,
    { namespace, name: "owner" },
    { propagationPolicy: "Foreground" },
  );
  await cluster.settle();
  expect(await names(cluster)).toEqual(["own", "owner"]);
  const none = { metadata: { finalizers: null } };
  await client.patch(configMaps, { namespace, name: "own" }, { type: "merge", body: none });
  await cluster.settle();
  expect(await names(cluster)).toEqual([]);
});

test("an orphan stays, without its owner reference", async () => {
  await using cluster = await createTestCluster();
  const client = await ownerAndDependent(cluster);
  await client.delete(configMaps, { namespace, name: "owner" }, { propagationPolicy: "Orphan" });
  await cluster.settle();
  const [own] = (await client.list(configMaps)).items;
  expect([own?.metadata.name, own?.metadata.ownerReferences]).toEqual(["own", []]);
});

test("an owner with the same name and another UID does not count", async () => {
  await using cluster = await createTestCluster();
  const client = await ownerAndDependent(cluster);
  await client.delete(configMaps, { namespace, name: "owner" });
  await client.create(configMaps, { metadata: { namespace, name: "owner" } });
  await cluster.settle();
  expect(await names(cluster)).toEqual(["owner"]);
});

test("a namespace goes once it is empty, and accepts nothing new before that", async () => {
  await using cluster = await createTestCluster();
  const client = cluster.client();
  await client.create(namespaces, { metadata: { name: "n" } });
  const metadata = { namespace: "n", name: "a", finalizers: ["virtkit.dev/one"] };
  await client.create(configMaps, { metadata });
  await client.delete(namespaces, { name: "n" });
  await cluster.settle();
  expect((await client.get(namespaces, { name: "n" })).status).toEqual({ phase: "Terminating" });
  const late = client.create(configMaps, { metadata: { namespace: "n", name: "b" } });
  await expect(late).rejects.toMatchObject({
    status: 403,
    causes: [{ reason: "NamespaceTerminating" }],
  });
  const body = { metadata: { finalizers: null } };
  await client.patch(configMaps, { namespace: "n", name: "a" }, { type: "merge", body });
  await cluster.settle();
  await expect(client.get(namespaces, { name: "n" })).rejects.toMatchObject({ status: 404 });
});
