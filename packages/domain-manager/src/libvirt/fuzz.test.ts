import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { FakeDaemon, replyTo } from "../testing/fake-daemon.ts";
import { PlantedOverRead } from "../testing/planted-over-read.ts";
import { connectLibvirt } from "./libvirt.ts";
import { isLibvirtError } from "./libvirt-error.ts";
import { events } from "./protocol/events.ts";
import {
  headerBytes,
  messageStatus,
  messageTypes,
  programs,
  readHeader,
} from "./protocol/message.ts";
import type { Procedure } from "./protocol/notation.ts";
import { procedures } from "./protocol/procedures.ts";
import { MessageSplitter } from "./rpc/message-splitter.ts";
import type { Codec } from "./xdr/codec.ts";
import { codecFor, structCodec } from "./xdr/codec-for.ts";
import { XdrReader } from "./xdr/xdr-reader.ts";

const recorded: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../testing/recorded-messages.json", import.meta.url), "utf8"),
);
const messages = Object.values(recorded).map((text) => Buffer.from(text, "base64"));

/** The codec for the content of a message; nothing for one that no caller would receive. */
function codecOf(message: Buffer): Codec | undefined {
  const { program, procedure, type, status } = readHeader(message);
  if (type === messageTypes.reply && status === messageStatus.error) return codecFor("error");
  if (type === messageTypes.event) {
    const event = Object.values(events).find((one) => one.message === procedure);
    return event && structCodec({ callback: "i32", ...event.fields });
  }
  const called = Object.values<Procedure>(procedures).find(
    (one) => one.number === procedure && programs[one.program ?? "remote"] === program,
  );
  return called && structCodec(called.result);
}

const codecs = new Map<string, Codec | undefined>();

function cachedCodec(message: Buffer): Codec | undefined {
  const key = message.toString("latin1", 4, headerBytes);
  if (!codecs.has(key)) codecs.set(key, codecOf(message));
  return codecs.get(key);
}

/** Small and repeatable; the same seed gives the same attack. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const nastyWords = [0, 1, 2, 3, 5, 0x7f, 0xff, 0x100, 0xffff, 0x400000, 0x400001, 0x7fffffff];
nastyWords.push(0x80000000, 0xfffffffc, 0xffffffff);

/** Flips bits, overwrites words, cuts, lengthens and joins; the length word is made right half the time. */
function mutate(original: Buffer, next: (below: number) => number): Buffer {
  let message = Buffer.from(original);
  for (let changes = 1 + next(3); changes > 0; changes--) {
    const at = next(message.length);
    const word = Math.min(at & ~3, Math.max(message.length - 4, 0));
    const kind = next(5);
    if (kind === 0) message[at] = (message[at] ?? 0) ^ (1 << next(8));
    else if (kind <= 2 && message.length >= 4) {
      message.writeUInt32BE(nastyWords[next(nastyWords.length)] ?? 0, word);
    } else if (kind === 3) message = message.subarray(0, at + 1);
    else message = Buffer.concat([message, original.subarray(at)]);
  }
  if (next(2) === 0 && message.length >= 4) message.writeUInt32BE(message.length, 0);
  return message;
}

type Outcome = { readonly value: unknown } | { readonly refused: string };

/** Reads a message the way a connection does, out of the middle of a buffer with other bytes around it. */
function read(bytes: Buffer, Reader: typeof XdrReader, around: number): Outcome {
  const room = Buffer.alloc(bytes.length + 512, around);
  bytes.copy(room, 256);
  const outcomes: Outcome[] = [];
  try {
    new MessageSplitter().push(room.subarray(256, 256 + bytes.length), (message) => {
      const reader = new Reader(message, headerBytes);
      outcomes.push({ value: cachedCodec(message)?.read(reader) });
    });
  } catch (error) {
    if (!isLibvirtError(error)) throw error;
    return { refused: error.message };
  }
  return outcomes.length === 1 ? (outcomes[0] ?? { value: undefined }) : { value: outcomes };
}

/** How many values a value consists of. */
function countOf(value: unknown): number {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return 1;
  return Object.values(value).reduce<number>((sum, one) => sum + countOf(one), 1);
}

interface Findings {
  readonly overReads: number;
  readonly refused: number;
  readonly accepted: number;
  readonly largest: number;
}

function attack(Reader: typeof XdrReader, rounds: number): Findings {
  const next = random(1);
  let overReads = 0;
  let refused = 0;
  let accepted = 0;
  let largest = 0;
  for (let round = 0; round < rounds; round++) {
    const message = mutate(messages[round % messages.length] ?? Buffer.alloc(0), next);
    const outcome = read(message, Reader, 0x41);
    // Bytes outside a message must not matter. An over-read sees them.
    if (!isDeepStrictEqual(outcome, read(message, Reader, 0x5a))) overReads++;
    if ("refused" in outcome) refused++;
    else {
      accepted++;
      largest = Math.max(largest, countOf(outcome.value) / Math.max(message.length, 1));
    }
  }
  return { overReads, refused, accepted, largest };
}

test("reads the messages of a real daemon to the last byte", () => {
  expect(messages.length).toBeGreaterThan(90);
  for (const message of messages) {
    const codec = codecOf(message);
    const reader = new XdrReader(message, headerBytes);
    codec?.read(reader);
    expect(codec && reader.left).toBe(0);
  }
});

test("100,000 mutated messages are rejected or read, without over-reads and with bounded memory", () => {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const { overReads, refused, accepted, largest } = attack(XdrReader, 100_000);
  expect(overReads).toBe(0);
  expect(refused).toBeGreaterThan(10_000);
  expect(accepted).toBeGreaterThan(10_000);
  // Every value stands for at least one byte: allocations cannot outgrow the received data.
  expect(largest).toBeLessThanOrEqual(1);
  expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 2 ** 20);
}, 60_000);

test("the same attack finds a planted over-read", () => {
  expect(attack(PlantedOverRead, 2_000).overReads).toBeGreaterThan(0);
});

test("a connection with mutated messages answers, or fails its calls with a LibvirtError", async () => {
  const next = random(2);
  const outcomes = await Promise.all(
    Array.from({ length: 300 }, async (_, round) => {
      const daemon = new FakeDaemon(({ header }) => {
        const reply = replyTo("connectGetHostname", header, { hostname: "some host name" });
        const other = messages[round % messages.length] ?? reply;
        return mutate(next(2) === 0 ? reply : other, next);
      });
      const options = { uri: "test:///default", dial: daemon.dial, messageTimeout: 5 };
      const libvirt = await connectLibvirt(options);
      onTestFinished(() => libvirt.close());
      await libvirt.subscribe(["lifecycle"]);
      const call = libvirt.call("connectGetHostname", {}, { timeout: 10 });
      return await call.then(
        () => "answered",
        (error: unknown) => (isLibvirtError(error) ? error.code : String(error)),
      );
    }),
  );
  const kinds = ["answered", "LIBVIRT_PROTOCOL", "LIBVIRT_REMOTE", "LIBVIRT_TIMEOUT"];
  expect(outcomes.filter((outcome) => !kinds.includes(outcome))).toEqual([]);
  expect(new Set(outcomes).size).toBeGreaterThan(2);
});
