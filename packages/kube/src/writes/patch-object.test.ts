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

test("writes the difference, on the condition that the object is still the same", async () => {
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

test("sends nothing if nothing differs", async () => {
  const client = new MemoryClient();
  const before = await client.create(things, { metadata: { name: "a" } });
  expect(await patchObject(client, things, before, structuredClone(before))).toBe(before);
  expect(client.writes).toHaveLength(1);
});

test("a failed test is a conflict, with the server's message as its cause", async () => {
  const client = new MemoryClient();
  const before = await client.create(things, { metadata: { name: "a" } });
  await patchObject(client, things, before, labelled(before, { x: "of others" }));
  const error = await patchObject(client, things, before, labelled(before, { x: "1" })).catch(
    (thrown) => thrown,
  );
  expect([isConflict(error), error.cause.status]).toEqual([true, 422]);
});

test("a value that must be as it was read, and is not, is a conflict, although it is not written", async () => {
  const client = new MemoryClient();
  const before = await client.create(
    things,
    labelled({ metadata: { name: "a" } }, { of: "first" }),
  );
  const unchanged = ["/metadata/labels/of", "/status/phase"];
  const after = labelled(before, { of: "first", x: "1" });
  const second = await patchObject(client, things, before, labelled(before, { of: "second" }));
  const error = await patchObject(client, things, before, after, { unchanged }).catch((e) => e);
  expect(isConflict(error)).toBe(true);
  const next = labelled(second, { of: "second", x: "1" });
  const written = await patchObject(client, things, second, next, { unchanged });
  expect(written.metadata.labels).toEqual({ of: "second", x: "1" });
});
