import { Readable, Writable } from "node:stream";
import { expect, test } from "vitest";
import { flush, isReaderGone, writeAll } from "./io.ts";
import { main } from "./main.ts";

/** A stream that accepts some writes and then fails, like a pipe whose reader goes away. */
function pipe(takes: number, code = "EPIPE") {
  const taken: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _, done) {
      if (chunk === "") return done();
      const failure = Object.assign(new Error(`write ${code}`), { code });
      const isTaken = taken.length < takes;
      if (isTaken) taken.push(chunk);
      setImmediate(done, isTaken ? null : failure);
    },
  });
  return { stream, taken };
}

async function run(args: readonly string[], stdout: Writable, stdin = "") {
  const said: string[] = [];
  const stderr = new Writable({
    write(chunk, _, done) {
      said.push(String(chunk));
      done();
    },
  });
  const input = Readable.from([Buffer.from(stdin)]);
  const code = await main(args, { stdin: input, stdout, stderr, isTerminal: false, env: {} });
  return { code, err: said.join("") };
}

test.each([["crds"], ["--help"], ["crds", "-o", "json"]])(
  "virtkit %s ends quietly when nobody reads it",
  async (...args) => {
    expect(await run(args, pipe(0).stream)).toEqual({ code: 0, err: "" });
  },
);

test("batch stops at the first answer that nobody reads", async () => {
  const { stream, taken } = pipe(1);
  const requests = '{"id":1,"fn":"none"}\n'.repeat(1000);
  expect(await run(["batch"], stream, requests)).toEqual({ code: 0, err: "" });
  expect(taken).toHaveLength(1);
});

test("any other output error is a failure", async () => {
  const { code, err } = await run(["--help"], pipe(0, "ENOSPC").stream);
  expect({ code, err }).toEqual({ code: 1, err: "virtkit: write ENOSPC\n" });
});

test("after a failed write, the next ones throw its error", async () => {
  const { stream } = pipe(0);
  await writeAll(stream, "a");
  const error: unknown = await flush(stream).catch((caught: unknown) => caught);
  expect(isReaderGone(stream, error)).toBe(true);
  expect(isReaderGone(pipe(0).stream, error)).toBe(false);
  await expect(writeAll(stream, "b")).rejects.toBe(error);
});

test("flush waits for what was written", async () => {
  const { stream, taken } = pipe(2);
  await writeAll(stream, "a");
  await writeAll(stream, "b");
  await flush(stream);
  expect(taken).toEqual(["a", "b"]);
});
