import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, expect, test } from "vitest";
import { type ManifestProblem, parseManifests, readManifests } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "virtkit-manifests-"));
afterAll(() => rmSync(folder, { recursive: true }));

const values = (text: string): unknown[] =>
  parseManifests(text, "f").documents.map(({ value }) => value);

const problems = (
  text: string,
  limits = {},
): Pick<ManifestProblem, "line" | "column" | "message">[] =>
  parseManifests(text, "f", limits).problems.map(({ line, column, message }) => ({
    line,
    column,
    message,
  }));

test("reads several documents, in YAML and JSON, and skips empty ones", () => {
  expect(values('# first\na: 1\n---\n\n---\n{"b": [true, null]}\n---\n# none\n')).toEqual([
    { a: 1 },
    { b: [true, null] },
  ]);
});

test.each(["", "# nothing\n", "---\n---\n", "null\n", "%Y\n"])("%j contains no object", (text) => {
  expect(problems(text)).toEqual([{ line: 1, column: 1, message: "it contains no object" }]);
});

test("an empty List is not a problem", () => {
  const text = "apiVersion: v1\nkind: List\nitems: []\n";
  expect(parseManifests(text, "f")).toEqual({ documents: [], problems: [] });
});

test("scalars follow the core schema", () => {
  expect(values("a: [yes, on, 012, 0o14, 0x1f, 1e3, ~, 2001-01-01, 1_000, 'x', true]")).toEqual([
    { a: ["yes", "on", 12, 12, 31, 1000, null, "2001-01-01", "1_000", "x", true] },
  ]);
});

test("the items of a List are documents with their own positions", () => {
  const { documents } = parseManifests(
    "apiVersion: v1\nkind: List\nitems:\n- kind: A\n- kind: B\n  spec:\n    x: 1\n",
    "f",
  );
  expect(documents.map(({ value }) => value)).toEqual([
    { kind: "A" },
    { kind: "B", spec: { x: 1 } },
  ]);
  expect(documents[1]?.position(["spec", "x"])).toEqual({ line: 7, column: 5 });
});

test("the items of a typed list are objects of that kind, whether they say so or not", () => {
  const { documents } = parseManifests(
    "apiVersion: x/v1\nkind: ThingList\nitems:\n- spec: 1\n- {apiVersion: y, kind: Other}\n- 5\n",
    "f",
  );
  expect(documents.map(({ value }) => value)).toEqual([
    { apiVersion: "x/v1", kind: "Thing", spec: 1 },
    { apiVersion: "y", kind: "Other" },
    5,
  ]);
  expect(documents[0]?.position(["spec"])).toEqual({ line: 4, column: 3 });
});

test("a plain list stands for its items, including nested lists", () => {
  const text = "- a: 1\n- - b: 2\n- apiVersion: v1\n  kind: List\n  items: [{c: 3}]\n";
  const { documents } = parseManifests(text, "f");
  expect(documents.map(({ value }) => value)).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }]);
  expect(documents[1]?.position(["b"])).toEqual({ line: 2, column: 5 });
});

test.each(["kind: List\nitems: 5\n", "apiVersion: v1\nkind: Shopping\nitems: [1]\n", "items: [1]"])(
  "%j is not a list",
  (text) => {
    expect(values(text)).toHaveLength(1);
  },
);

test("a position is that of the field's key, or of the nearest existing ancestor", () => {
  const text = 'a: 1\n---\nspec:\n  volumes:\n  - name: x\n    "disk": {}\n  - name: y\n';
  const at = parseManifests(text, "f").documents[1]?.position;
  expect(at?.(["spec", "volumes", 0, "disk"])).toEqual({ line: 6, column: 5 });
  expect(at?.(["spec", "volumes", 1])).toEqual({ line: 7, column: 5 });
  expect(at?.(["spec", "volumes", 1, "disk", "bus"])).toEqual({ line: 7, column: 5 });
  expect(at?.(["metadata"])).toEqual({ line: 3, column: 1 });
  expect(at?.([])).toEqual({ line: 3, column: 1 });
});

test("positions follow aliases", () => {
  const at = parseManifests("a: &x\n  b: 1\nc: *x\n", "f").documents[0]?.position;
  expect(at?.(["c", "b"])).toEqual({ line: 2, column: 3 });
});

test("an alias stands for the last anchor of its name before it", () => {
  expect(values("a: [&a 1, *a, &a 2, *a, &b [*a, &a 3], *b, *a]")).toEqual([
    { a: [1, 1, 2, 2, [2, 3], [2, 3], 3] },
  ]);
});

test("each alias is a separate copy", () => {
  const [value] = values("a: &x {n: [1]}\nb: *x\n") as [{ a: unknown; b: unknown }];
  expect(value).toEqual({ a: { n: [1] }, b: { n: [1] } });
  expect(value.a).not.toBe(value.b);
});

test("reports a duplicate key at its second position", () => {
  expect(problems("a: 1\nb: 2\na: 3\n")).toEqual([
    { line: 3, column: 1, message: 'duplicate key "a"; remove one' },
  ]);
  expect(problems('{"x": {"y": 1, "y": 2}}')).toMatchObject([{ line: 1, column: 16 }]);
});

test.each([
  ["a: b: c\n", "Nested mappings"],
  ["? [a]\n: 1\n", "a key is not plain text"],
  ["a: .nan\n", "not a number in JSON"],
  ["a: &x [*x]\n", "inside the value it stands for"],
  ["a: *nowhere\n", "there is no anchor &nowhere"],
  ["a: !custom x\n", "Unresolved tag"],
])("%j is a problem: %s", (text, message) => {
  expect(problems(text)[0]?.message).toContain(message);
  expect(values(text)).toEqual([]);
});

test("keys called __proto__ and constructor are ordinary keys", () => {
  const [value] = values("__proto__: {polluted: 1}\nconstructor: 2\n") as [object];
  expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test("reads a valid document even if another one has a problem", () => {
  const { documents, problems } = parseManifests("a: 1\n---\nb: [\n---\nc: 3\n", "f");
  expect(documents.map(({ value }) => value)).toEqual([{ a: 1 }, { c: 3 }]);
  expect(problems.length).toBeGreaterThan(0);
});

test("an alias bomb ends at the limit on values", () => {
  const levels = Array.from({ length: 30 }, (_, i) =>
    i === 0 ? "a0: &a0 [x, x]" : `a${i}: &a${i} [*a${i - 1}, *a${i - 1}]`,
  );
  expect(problems(levels.join("\n"), { maxValues: 10_000 })).toMatchObject([
    { message: expect.stringContaining("more than 10000 values") },
  ]);
});

test("deep nesting ends at the limit on depth, or where the parser gives up", () => {
  expect(problems("[".repeat(200) + "]".repeat(200))).toMatchObject([
    { message: "the document is nested more than 100 levels deep" },
  ]);
  for (const text of ["[".repeat(20_000), '{"a":'.repeat(20_000), "- ".repeat(20_000)]) {
    expect(problems(text)).toMatchObject([{ message: "nested too deeply to read" }]);
  }
});

test("problems are bounded in number and length, and documents in number", () => {
  expect(problems(`[${",".repeat(5000)}]`)).toHaveLength(100);
  expect(problems(`${"!".repeat(5000)} x`).every(({ message }) => message.length < 320)).toBe(true);
  const many = parseManifests("a: 1\n---\n".repeat(20), "f", { maxDocuments: 5 });
  expect([many.documents.length, many.problems.length]).toEqual([5, 1]);
});

test("reads files and stdin; an unreadable one is a separate problem", async () => {
  const good = join(folder, "good.yaml");
  const binary = join(folder, "binary");
  const large = join(folder, "large");
  writeFileSync(good, "\ufeffa: 1\n");
  writeFileSync(binary, Buffer.from([0xff, 0xfe, 0x00]));
  writeFileSync(large, "x".repeat(1001));
  const io = { stdin: Readable.from([Buffer.from("b: 2\n")]) };
  const missing = join(folder, "missing");
  const sources = [good, "-", binary, large, folder, missing];
  const read = await readManifests(sources, io, { maxBytes: 1000 });
  expect(read.documents.map(({ source, value }) => [source, value])).toEqual([
    [good, { a: 1 }],
    ["-", { b: 2 }],
  ]);
  expect(read.problems.map(({ source, message }) => [source, message])).toEqual([
    [binary, expect.stringContaining("is not UTF-8")],
    [large, expect.stringContaining("more than 1000 bytes")],
    [folder, expect.stringContaining("EISDIR")],
    [missing, `${missing} cannot be read: ENOENT: no such file or directory`],
  ]);
});
