import fc from "fast-check";
import { expect, test } from "vitest";
import { defineResource } from "../client/resource.ts";
import { MemoryClient } from "../testing/memory-client.ts";
import { jsonPatchBetween } from "./json-patch-between.ts";

test("what is replaced, removed or added is tested to be what was read", () => {
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

test("no difference is no patch; undefined says nothing", () => {
  const object = { metadata: { name: "a" }, list: [{ x: 1 }] };
  expect(jsonPatchBetween(object, structuredClone(object))).toEqual([]);
  expect(jsonPatchBetween(object, { ...object, status: undefined })).toEqual([]);
});

test("a list is one value, and so is what is new", () => {
  expect(jsonPatchBetween({ list: [1, 2] }, { list: [1, 3], deep: { er: { x: 1 } } })).toEqual([
    { op: "test", path: "/list", value: [1, 2] },
    { op: "test", path: "/deep", value: null },
    { op: "replace", path: "/list", value: [1, 3] },
    { op: "add", path: "/deep", value: { er: { x: 1 } } },
  ]);
});

test("conditions are compared by meaning where that is asked for", () => {
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
const value = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.array(fc.integer(), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom("a", "b/c", "d~e"), fc.integer(), { maxKeys: 3 }),
);
const content = fc.dictionary(fc.constantFrom("spec", "status", "x"), value, { maxKeys: 3 });

test("the patch makes the one object of the other, and fails on any third", async () => {
  await fc.assert(
    fc.asyncProperty(content, content, content, async (before, after, third) => {
      const operations = jsonPatchBetween(before, after);
      const patched = async (start: object): Promise<object> => {
        const client = new MemoryClient();
        await client.create(things, { ...start, metadata: { name: "a" } });
        const patch = { type: "json", operations } as const;
        const {
          metadata: _,
          apiVersion: _v,
          kind: _k,
          ...rest
        } = await client.patch(things, { name: "a" }, patch);
        return rest;
      };
      expect(await patched(before)).toEqual(after);
      // Where others changed the same value, nothing of theirs is lost: the patch is refused.
      const isTouched = operations.some(({ path }) => {
        const key = path.split("/")[1] ?? "";
        return (
          JSON.stringify(before[key]) !== JSON.stringify(third[key]) &&
          typeof before[key] !== "object" &&
          typeof third[key] !== "object"
        );
      });
      if (isTouched) await expect(patched(third)).rejects.toMatchObject({ status: 422 });
    }),
  );
});
