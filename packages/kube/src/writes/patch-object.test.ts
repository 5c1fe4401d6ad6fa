import { expect, test } from "vitest";
import { isConflict } from "../client/kube-error.ts";
import { defineResource } from "../client/resource.ts";
import { MemoryClient } from "../testing/memory-client.ts";
import { patchObject } from "./patch-object.ts";

const things = defineResource({ version: "v1", plural: "things", kind: "Thing" });
const labelled = <T extends { readonly metadata: object }>(object: T, labels: object): T => ({
  ...object,
  metadata: { ...object.metadata, labels },
});

test("what differs is written, on the condition that it is the same object", async () => {
  const client = new MemoryClient();
  const before = await client.create(things, { metadata: { name: "a", namespace: "default" } });
  const after = await patchObject(client, things, before, labelled(before, { x: "1" }));
  expect(after.metadata.labels).toEqual({ x: "1" });
  expect(client.writes.at(-1)?.body).toEqual({
    type: "json",
    operations: [
      { op: "test", path: "/metadata/uid", value: "uid-1" },
      { op: "test", path: "/metadata/labels", value: null },
      { op: "add", path: "/metadata/labels", value: { x: "1" } },
    ],
  });
});

test("where nothing differs nothing is sent", async () => {
  const client = new MemoryClient();
  const before = await client.create(things, { metadata: { name: "a" } });
  expect(await patchObject(client, things, before, structuredClone(before))).toBe(before);
  expect(client.writes).toHaveLength(1);
});

test("a test that fails is a conflict, with what the server said as its cause", async () => {
  const client = new MemoryClient();
  const before = await client.create(things, { metadata: { name: "a" } });
  await patchObject(client, things, before, labelled(before, { x: "of others" }));
  const error = await patchObject(client, things, before, labelled(before, { x: "1" })).catch(
    (thrown) => thrown,
  );
  expect([isConflict(error), error.cause.status]).toEqual([true, 422]);
});
