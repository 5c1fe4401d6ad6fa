import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonPatchOperation } from "../client/kube-client.ts";
import { defineResource } from "../client/resource.ts";
import { MemoryClient } from "../testing/memory-client.ts";
import { jsonPatchBetween } from "./json-patch-between.ts";

test("tests every value it replaces, removes or adds against what was read", () => {
  const before = {
    metadata: { name: "a", labels: { "x/y": "1", old: "2" } },
    status: { phase: "A" },
  };
  const after = {
    metadata: { name: "a", labels: { "x/y": "3", new: "4" } },
    status: { phase: "A" },
  };
  expect(jsonPatchBetween(before, after)).toEqual([
    { op: "test", path: "/metadata/labels/x~1y", value: "1" },
    { op: "test", path: "/metadata/labels/old", value: "2" },
    { op: "test", path: "/metadata/labels/new", value: null },
    { op: "replace", path: "/metadata/labels/x~1y", value: "3" },
    { op: "remove", path: "/metadata/labels/old" },
    { op: "add", path: "/metadata/labels/new", value: "4" },
  ]);
});

test("no difference gives no patch, and undefined is ignored", () => {
  const object = { metadata: { name: "a" }, list: [{ x: 1 }] };
  expect(jsonPatchBetween(object, structuredClone(object))).toEqual([]);
  expect(jsonPatchBetween(object, { ...object, status: undefined })).toEqual([]);
});

test("a list is one value, and so is a new value", () => {
  expect(jsonPatchBetween({ list: [1, 2] }, { list: [1, 3], deep: { er: { x: 1 } } })).toEqual([
    { op: "test", path: "/list", value: [1, 2] },
    { op: "test", path: "/deep", value: null },
    { op: "replace", path: "/list", value: [1, 3] },
    { op: "add", path: "/deep", value: { er: { x: 1 } } },
  ]);
});

test("compares conditions by meaning on request", () => {
  const ready = { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
  const live = {
    type: "Live",
    status: "True",
    reason: "Probe",
    lastProbeTime: "2026-01-01T00:00:00Z",
  };
  const later = "2026-02-02T00:00:00Z";
  const before = { status: { conditions: [ready, live] } };
  const same = {
    status: {
      conditions: [
        { ...live, lastProbeTime: later },
        { ...ready, reason: "" },
      ],
    },
  };
  const other = { status: { conditions: [ready, { ...live, reason: "Seen" }] } };
  const options = { conditions: ["/status/conditions"] };
  expect(jsonPatchBetween(before, same, options)).toEqual([]);
  expect(jsonPatchBetween(before, same)).toHaveLength(2);
  expect(jsonPatchBetween(before, other, options)).toHaveLength(2);
  expect(jsonPatchBetween({ status: {} }, { status: { conditions: [] } }, options)).toEqual([]);
});

const things = defineResource({ version: "v1", plural: "things", kind: "Thing" });

/** What a server makes of an object that is patched. */
async function patched(start: object, operations: readonly JsonPatchOperation[]): Promise<object> {
  const client = new MemoryClient();
  await client.create(things, { ...start, metadata: { name: "a" } });
  const patch = { type: "json", operations } as const;
  const after = await client.patch(things, { name: "a" }, patch);
  const { metadata: _m, apiVersion: _v, kind: _k, ...rest } = after;
  return rest;
}

const key = fc.constantFrom("a", "b/c", "d~e", "f");
const flat = fc.dictionary(key, fc.oneof(fc.string(), fc.integer()), { maxKeys: 4 });
const deep = fc.dictionary(
  key,
  fc.oneof(fc.array(fc.integer(), { maxLength: 3 }), flat, fc.string()),
);

test("the patch turns one object into the other", async () => {
  await fc.assert(
    fc.asyncProperty(deep, deep, async (before, after) => {
      expect(await patched(before, jsonPatchBetween(before, after))).toEqual(after);
    }),
  );
});

test("fails where others changed a value it touches, and keeps all other changes", async () => {
  await fc.assert(
    fc.asyncProperty(flat, flat, flat, async (before, mine, others) => {
      const operations = jsonPatchBetween(before, mine);
      const keys = [...new Set([before, mine, others].flatMap(Object.keys))];
      const touched = keys.filter((key) => before[key] !== mine[key]);
      if (touched.some((key) => before[key] !== others[key])) {
        await expect(patched(others, operations)).rejects.toMatchObject({ status: 422 });
        return;
      }
      const both = keys.map((key) => [key, touched.includes(key) ? mine[key] : others[key]]);
      const expected = Object.fromEntries(both.filter(([, value]) => value !== undefined));
      expect(await patched(others, operations)).toEqual(expected);
    }),
  );
});
