import { afterAll, beforeAll, expect, test } from "vitest";
import type { HttpClient } from "../client/http-client.ts";
import { isConflict, isKubeError } from "../client/kube-error.ts";
import { configMap, configMaps, createNamespace } from "../testing/config-maps.ts";
import { sharedClient } from "../testing/real-api-server.ts";
import { applyObject } from "./apply-object.ts";
import { EventRecorder } from "./event-recorder.ts";
import { withFinalizer, withoutFinalizer } from "./finalizers.ts";
import { events } from "./kube-event.ts";
import { patchObject } from "./patch-object.ts";

const namespace = "kube-writes";
let client: HttpClient;
beforeAll(async () => {
  client = await sharedClient();
  await createNamespace(client, namespace);
});
afterAll(() => client.close());

test("a patch writes only the difference and keeps the changes of others", async () => {
  const read = await client.create(configMaps, configMap(namespace, "a", "1"));
  const annotations = { other: "x" };
  await patchObject(client, configMaps, read, {
    ...read,
    metadata: { ...read.metadata, annotations },
  });
  const after = await patchObject(client, configMaps, read, {
    ...read,
    data: { value: "2", new: "3" },
  });
  expect(after.data).toEqual({ value: "2", new: "3" });
  expect(after.metadata.annotations).toEqual(annotations);
  expect(await patchObject(client, configMaps, after, structuredClone(after))).toBe(after);
});

test("a change by somebody else to what was read is a conflict: replaced, removed or added", async () => {
  const read = await client.create(configMaps, configMap(namespace, "b", "1"));
  const others = { value: "of others", new: "of others" };
  const changed = await client.update(configMaps, { ...read, data: others });
  for (const data of [{ value: "2" }, {}, { value: "1", new: "mine" }]) {
    const error = await patchObject(client, configMaps, read, { ...read, data }).catch((e) => e);
    expect([isConflict(error), isKubeError(error.cause)]).toEqual([true, true]);
  }
  expect(await client.get(configMaps, { namespace, name: "b" })).toEqual(changed);
});

test("an object recreated under the same name is a conflict; so is any change, on request", async () => {
  const read = await client.create(configMaps, configMap(namespace, "c", "1"));
  const mine = { ...read, data: { value: "1", mine: "x" } };
  await client.patch(
    configMaps,
    { namespace, name: "c" },
    { type: "merge", body: { data: { other: "y" } } },
  );
  const exclusive = patchObject(client, configMaps, read, mine, { isExclusive: true });
  await expect(exclusive).rejects.toSatisfy(isConflict);
  await client.delete(configMaps, { namespace, name: "c" });
  await client.create(configMaps, configMap(namespace, "c", "1"));
  await expect(patchObject(client, configMaps, read, mine)).rejects.toSatisfy(isConflict);
});

test("an invalid patch is not mistaken for a conflict", async () => {
  const read = await client.create(configMaps, configMap(namespace, "d", "1"));
  const labels = { "not a key!": "x" };
  const wrong = { ...read, metadata: { ...read.metadata, labels } };
  const error = await patchObject(client, configMaps, read, wrong).catch((e) => e);
  expect([isConflict(error), error.status]).toEqual([false, 422]);
});

test("a finalizer keeps an object until it is removed", async () => {
  const name = "e";
  const made = withFinalizer(configMap(namespace, name, "1"), "virtkit.example/clean-up");
  const read = await client.create(configMaps, made);
  await client.delete(configMaps, { namespace, name });
  const going = await client.get(configMaps, { namespace, name });
  expect(going.metadata.deletionTimestamp).toBeTruthy();
  await patchObject(client, configMaps, going, withoutFinalizer(going, "virtkit.example/clean-up"));
  await expect(client.get(configMaps, { namespace, name })).rejects.toMatchObject({ status: 404 });
  expect(read.metadata.uid).toBe(going.metadata.uid);
});

test("an apply creates an object, owns its fields and leaves those of others", async () => {
  const name = "f";
  const mine = { metadata: { namespace, name }, data: { mine: "1", gone: "1" } };
  const made = await applyObject(client, configMaps, mine, { fieldManager: "me" });
  await client.patch(
    configMaps,
    { namespace, name },
    { type: "merge", body: { data: { other: "1" } } },
  );
  const again = { ...made, data: { mine: "2" } };
  const applied = await applyObject(client, configMaps, again, { fieldManager: "me" });
  expect(applied.data).toEqual({ mine: "2", other: "1" });
  const thief = { ...mine, data: { mine: "3" } };
  const stolen = applyObject(client, configMaps, thief, { fieldManager: "thief" });
  await expect(stolen).rejects.toSatisfy(isConflict);
  const taken = await applyObject(client, configMaps, thief, {
    fieldManager: "thief",
    force: true,
  });
  expect(taken.data?.["mine"]).toBe("3");
});

test("events are written, counted and found by their object", async () => {
  const object = await client.create(configMaps, configMap(namespace, "g", "1"));
  const recorder = new EventRecorder({ client, component: "virtkit-test" });
  const event = { type: "Warning", reason: "Tried", message: "it did not work" } as const;
  recorder.record(configMaps, object, event);
  await recorder.flush();
  recorder.record(configMaps, object, event);
  await recorder.flush();
  const fieldSelector = `involvedObject.uid=${object.metadata.uid}`;
  const { items } = await client.list(events, { namespace, fieldSelector });
  expect(items).toMatchObject([{ ...event, count: 2, source: { component: "virtkit-test" } }]);
  await recorder.close();
});
