import { expect, test } from "vitest";
import { applyJsonPatch } from "./apply-json-patch.ts";

const document = { labels: { "x.io/a": "1" }, list: [{ n: 1 }, { n: 2 }] };

test("applies operations in order, to a copy", () => {
  const after = applyJsonPatch(document, [
    { op: "test", path: "/labels/x.io~1a", value: "1" },
    { op: "replace", path: "/labels/x.io~1a", value: "2" },
    { op: "add", path: "/list/-", value: { n: 3 } },
    { op: "remove", path: "/list/0" },
    { op: "add", path: "/status", value: {} },
  ]);
  expect(after).toEqual({ labels: { "x.io/a": "2" }, list: [{ n: 2 }, { n: 3 }], status: {} });
  expect(document.list).toHaveLength(2);
});

test("a test for null passes if there is nothing", () => {
  const operation = { op: "test", path: "/status/phase", value: null } as const;
  expect(applyJsonPatch(document, [operation])).toEqual(document);
});

test.each([
  [{ op: "test", path: "/labels", value: {} }],
  [{ op: "remove", path: "/labels/b" }],
  [{ op: "add", path: "/status/phase", value: "x" }],
] as const)("%j does not apply", (operation) => {
  expect(() => applyJsonPatch(document, [operation])).toThrow();
});
