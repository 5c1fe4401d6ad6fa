import { Readable } from "node:stream";
import { expect, test, vi } from "vitest";
import { batchAreas } from "../areas/areas.ts";
import type { BatchArea } from "./batch-area.ts";
import { type BatchOptions, runBatch } from "./run-batch.ts";

const area = (
  functions: Record<string, (input: unknown, context: unknown) => unknown>,
): BatchArea => ({
  functions: Object.keys(functions),
  load: () => Promise.resolve({ functions }),
});

const areas = {
  first: area({
    echo: (input, context) => ({ input, context }),
    both: () => "first",
    nothing: () => undefined,
    endless: () => {
      const loop: Record<string, unknown> = {};
      loop["self"] = loop;
      return loop;
    },
    fail: () => {
      throw Object.assign(new Error("spec.x is 1; use 2"), { code: "X_BAD", path: "spec.x" });
    },
  }),
  second: area({ both: () => "second" }),
};

async function answers(
  lines: string | Buffer[],
  options: BatchOptions = { areas },
): Promise<unknown[]> {
  const input = Readable.from(typeof lines === "string" ? [Buffer.from(lines)] : lines);
  let text = "";
  const write = async (line: string): Promise<void> => {
    text += line;
  };
  await runBatch(input, write, options);
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

test("a request is answered with its id and the function's result", async () => {
  expect(await answers('{"id":"a","fn":"echo","input":{"x":1},"context":[2]}')).toEqual([
    { id: "a", result: { input: { x: 1 }, context: [2] } },
  ]);
});

test("a function that returns nothing answers null", async () => {
  expect(await answers('{"id":1,"fn":"nothing"}')).toEqual([{ id: 1, result: null }]);
});

test("answers keep the order of the requests, whatever fails between them", async () => {
  const lines = [
    '{"id":1,"fn":"echo"}',
    "{",
    "[]",
    '{"id":3,"fn":"fail"}',
    "",
    '{"id":4,"fn":"echo"}',
  ];
  const seen = await answers(lines.join("\n"));
  expect(seen.map((line) => (line as { id: unknown }).id)).toEqual([1, null, null, 3, 4]);
});

test("code, message and path of a thrown error reach the answer", async () => {
  expect(await answers('{"id":1,"fn":"fail"}')).toEqual([
    { id: 1, error: { code: "X_BAD", message: "spec.x is 1; use 2", path: "spec.x" } },
  ]);
});

test("a name that two areas share needs the area", async () => {
  const seen = await answers('{"id":1,"fn":"both"}\n{"id":2,"fn":"both","area":"second"}');
  expect(seen).toMatchObject([
    { id: 1, error: { code: "BATCH_AMBIGUOUS_FUNCTION", path: "area" } },
    { id: 2, result: "second" },
  ]);
});

test("a name that two areas share goes to the only one that the input fits", async () => {
  const shared = {
    first: { ...areas.first, accepts: (_: string, input: unknown) => input === 1 },
    second: { ...areas.second, accepts: (_: string, input: unknown) => input === 2 },
  };
  const lines = '{"id":1,"fn":"both","input":2}\n{"id":2,"fn":"both","input":3}';
  expect(await answers(lines, { areas: shared })).toMatchObject([
    { id: 1, result: "second" },
    { id: 2, error: { code: "BATCH_AMBIGUOUS_FUNCTION" } },
  ]);
});

test("does not write back an id that is not a plain value, and answers the next line", async () => {
  const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
  const seen = await answers(`{"id":${deep},"fn":"nothing"}\n{"id":2,"fn":"nothing"}`);
  expect(seen).toEqual([
    { id: null, result: null },
    { id: 2, result: null },
  ]);
});

test.each([
  ['{"fn":"echo","area":"third"}', "BATCH_UNKNOWN_AREA"],
  ['{"fn":"echo","area":"__proto__"}', "BATCH_UNKNOWN_AREA"],
  ['{"fn":"constructor"}', "BATCH_UNKNOWN_FUNCTION"],
  ['{"fn":7}', "BATCH_NO_FUNCTION"],
  ["{}", "BATCH_NO_FUNCTION"],
  ["null", "BATCH_NOT_A_REQUEST"],
  ['{"fn":"endless"}', "BATCH_FUNCTION_FAILED"],
])("answers %s with %s", async (line, code) => {
  expect(await answers(line)).toMatchObject([{ id: null, error: { code } }]);
});

test("a character split between two chunks stays intact", async () => {
  const bytes = Buffer.from('{"id":"\u20ac","fn":"echo"}\n');
  const chunks = [...bytes].map((byte) => Buffer.from([byte]));
  expect(await answers(chunks)).toEqual([{ id: "\u20ac", result: {} }]);
});

test("refuses a line over the limit and answers the next one", async () => {
  const long = `{"id":1,"fn":"echo","input":"${"x".repeat(500)}"}`;
  const seen = await answers(`${long}\n{"id":2,"fn":"echo"}`, { areas, maxLineBytes: 100 });
  expect(seen).toMatchObject([{ id: null, error: { code: "BATCH_LINE_TOO_LONG" } }, { id: 2 }]);
});

test("stops reading requests when nobody reads the answers", async () => {
  let calls = 0;
  const counting = { a: area({ call: () => "x".repeat(1000) + calls++ }) };
  const lines = Array.from({ length: 1000 }, (_, id) => `{"id":${id},"fn":"call"}\n`);
  let resume = (): void => undefined;
  const stuck = new Promise<void>((resolve) => {
    resume = resolve;
  });
  const read = Readable.from(lines.map((line) => Buffer.from(line)));
  const done = runBatch(read, () => stuck, { areas: counting });
  await vi.waitFor(() => expect(calls).toBe(1));
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toBe(1);
  resume();
  await done;
  expect(calls).toBe(1000);
});

// Loads every package, from their sources: seconds on a busy host.
test("each area has exactly the functions that it lists", async () => {
  for (const [name, { functions, load }] of Object.entries(batchAreas)) {
    expect([name, Object.keys((await load()).functions).sort()]).toEqual([
      name,
      [...functions].sort(),
    ]);
  }
}, 120_000);
