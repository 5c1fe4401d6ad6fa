import fc from "fast-check";
import { expect, test } from "vitest";
import { connectLauncher } from "../client/connect-launcher.ts";
import { isLauncherError } from "../launcher-error.ts";
import { rawLauncher, rawServer } from "../testing/raw-channel.ts";
import type { Check } from "./check.ts";
import { encodeFrame, FrameSplitter } from "./frame.ts";
import { readClientMessage, readLauncherMessage } from "./messages.ts";
import { carryOut, readArgs, type Verb } from "./verb.ts";
import { findVerb, verbs } from "./verbs.ts";

const hello = { type: "hello", versions: [1] };

/** Messages that are nearly right: known words and fields with arbitrary content. */
const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(0, -1, 1e308, "", "\0", null, [], {}, "9".repeat(300)),
);
const verbNames = [...Object.keys(verbs), "events", "toString"];
const message = fc.record(
  {
    type: fc.oneof(fc.constantFrom("hello", "request", "cancel", "credit", "answer", "item"), odd),
    id: fc.oneof(fc.integer({ min: 1, max: 4 }), odd),
    verb: fc.oneof(fc.constantFrom(...verbNames), odd),
    args: fc.oneof(
      odd,
      fc.dictionary(
        fc.constantFrom("vmi", "context", "mayRun", "command", "args", "credit", "path"),
        odd,
      ),
    ),
    timeout: fc.oneof(fc.integer({ min: 0, max: 50 }), odd),
    versions: fc.oneof(fc.constant([1]), odd),
    count: odd,
    success: fc.oneof(fc.boolean(), odd),
    result: odd,
    item: odd,
  },
  { requiredKeys: [] },
);

/** A message's bytes, whole or with some of them changed. */
const bytes = fc
  .tuple(message, fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 3 }))
  .map(([value, changes]) => {
    const frame = encodeFrame(value);
    for (const [place, byte] of changes) if (place < frame.length) frame[place] = byte;
    return frame;
  });

/** Whatever comes, a reader returns a value or throws one of our errors. */
function throwsOurs(read: (value: unknown) => unknown, value: unknown): boolean {
  try {
    read(value);
    return true;
  } catch (error) {
    return isLauncherError(error);
  }
}

test("any message is read, or rejected with one of our errors", () => {
  fc.assert(
    fc.property(fc.oneof(message, odd), (value) => {
      expect(throwsOurs(readClientMessage, value)).toBe(true);
      expect(throwsOurs(readLauncherMessage, value)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("any arguments of a verb are carried out, or rejected with one of our errors", async () => {
  const control = new Proxy({}, { get: () => async () => ({ mime: "", data: new Uint8Array() }) });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(verbs)), odd, async (name, args) => {
      const target = { control: control as never, info: () => ({}) as never };
      const verb = findVerb(name) as Verb;
      const run = async () => await carryOut([name, verb], target, readArgs(verb, args), {});
      const error = await run().then(
        () => undefined,
        (caught: unknown) => caught,
      );
      if (error !== undefined) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^(LAUNCHER|DOMAIN)_/) });
      }
    }),
    { numRuns: 500 },
  );
});

test("any answer of a launcher is read, or rejected with one of our errors", () => {
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(verbs)), odd, (name, answer) => {
      const read = (sent: unknown) => findVerb(name)?.result?.(sent, name, new Uint8Array());
      expect(throwsOurs(read, answer)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("the same attack finds a check that trusts what it is given", () => {
  const planted: Check<unknown> = (value) => (value as { id: number }).id.toFixed();
  const attack = (): void =>
    fc.assert(
      fc.property(fc.oneof(message, odd), (value) => throwsOurs((v) => planted(v, ""), value)),
      { numRuns: 500 },
    );
  expect(attack).toThrow(/Property failed/);
});

test("a splitter turns any bytes into frames or rejects them, within its limit", () => {
  fc.assert(
    fc.property(
      fc.array(bytes, { maxLength: 5 }),
      fc.uint8Array({ maxLength: 64 }),
      (all, tail) => {
        const splitter = new FrameSplitter(10_000);
        expect(
          throwsOurs(() => splitter.push(Buffer.concat([...all, tail]), () => {}), undefined),
        ).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

test("a launcher survives any client: it answers, or ends only that connection", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { maxLength: 12 }), async (frames) => {
      const { end, ended } = await rawServer();
      end.send(hello);
      for (const frame of frames) end.sendBytes(frame);
      end.finish();
      await ended;
    }),
    { numRuns: 60 },
  );
  const { end } = await rawServer();
  end.send(hello);
  end.send({ type: "request", id: 1, verb: "ping" });
  await end.message();
  expect(await end.message()).toMatchObject({ id: 1, success: true });
});

test("a client survives any launcher: its call ends with an answer or one of our errors", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { maxLength: 12 }), async (frames) => {
      const { end, dial } = await rawLauncher();
      end.send(hello);
      const client = await connectLauncher({ dial });
      const asked = client.status().then(
        () => undefined,
        (error: unknown) => error,
      );
      for (const frame of frames) end.sendBytes(frame);
      end.finish();
      const error = await asked;
      await client.close();
      if (error)
        expect(error).toMatchObject({ code: expect.stringMatching(/^(LAUNCHER|DOMAIN)_/) });
    }),
    { numRuns: 60 },
  );
});
