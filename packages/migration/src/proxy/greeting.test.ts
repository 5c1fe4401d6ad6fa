import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Answer,
  type Greeting,
  parseAnswer,
  parseGreeting,
  readLine,
  versionAnswer,
  writeAnswer,
  writeGreeting,
} from "./greeting.ts";

const ticket = Buffer.alloc(32, 7);

it.each<Greeting>([
  { wants: "hello" },
  { wants: "stream", channel: "libvirt" },
  { wants: "ticket", channel: "disks-0" },
])("a greeting is understood: %o", (greeting) => {
  expect(parseGreeting(writeGreeting(greeting).trimEnd())).toEqual(greeting);
});

it.each<Answer>([{ ok: true }, { ok: true, ticket }, { ok: false, reason: "no" }])(
  "an answer is understood: %o",
  (answer) => {
    expect(parseAnswer(writeAnswer(answer).trimEnd())).toEqual(answer);
  },
);

it("a reason with line breaks becomes one line", () => {
  expect(writeAnswer({ ok: false, reason: `a\nok ${"x".repeat(1_000)}` })).toMatch(
    /^error a\?ok x{195}\n$/,
  );
});

describe("any line", () => {
  const words = [
    "virtkit-migration/1",
    "hello",
    "stream",
    "ticket",
    "ok",
    "error",
    "a",
    "",
    "..",
    "A",
  ];
  const line = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom(...words), { maxLength: 5 }).map((parts) => parts.join(" ")),
  );

  it("is a greeting in its canonical form, or no greeting", () => {
    fc.assert(
      fc.property(line, (text) => {
        const greeting = parseGreeting(text);
        if (greeting) expect(writeGreeting(greeting)).toBe(`${text}\n`);
      }),
    );
  });

  it("is an answer, or no answer", () => {
    fc.assert(
      fc.property(line, (text) => {
        const answer = parseAnswer(text);
        if (answer?.ok) expect(writeAnswer(answer)).toBe(`${text}\n`);
      }),
    );
  });

  it("is read however it is split, and the bytes after it remain", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.stringMatching(/^[ -~]{0,256}$/),
        fc.uint8Array({ maxLength: 300 }),
        fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 5 }),
        async (text, rest, cuts) => {
          const stream = new PassThrough();
          const all = Buffer.concat([Buffer.from(`${text}\n`), rest]);
          const read = readLine(stream as unknown as Socket);
          for (let from = 0, index = 0; from < all.length; index++) {
            const size = cuts[index % cuts.length] ?? 1;
            stream.write(all.subarray(from, from + size));
            from += size;
          }
          stream.end();
          expect(await read).toBe(text);
          const left: Buffer[] = [];
          for await (const chunk of stream) left.push(chunk as Buffer);
          expect(Buffer.concat(left)).toEqual(Buffer.from(rest));
        },
      ),
      { numRuns: 50 },
    );
  });

  it("is rejected before its end if it is too long", async () => {
    const stream = new PassThrough();
    stream.write("x".repeat(257));
    await expect(readLine(stream as unknown as Socket)).rejects.toMatchObject({
      code: "MIGRATION_PEER_REFUSED",
      path: "greeting",
    });
  });
});

it("a peer of another version learns which version this side speaks", () => {
  expect(versionAnswer("virtkit-migration/2 hello")).toEqual({
    ok: false,
    reason: "greeted as virtkit-migration/2, but this side speaks virtkit-migration/1",
  });
  expect(versionAnswer("virtkit-migration/1 hello")).toBeUndefined();
  expect(versionAnswer("GET / HTTP/1.1")).toBeUndefined();
});
