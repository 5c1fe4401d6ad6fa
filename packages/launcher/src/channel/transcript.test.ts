import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { connectLauncher } from "../client/connect-launcher.ts";
import { connectForTest, info } from "../testing/channel-fixture.ts";
import { connectedPair } from "../testing/connected-pair.ts";
import { MemoryGuest } from "../testing/memory-guest.ts";
import { type RawEnd, rawLauncher, rawServer } from "../testing/raw-channel.ts";
import { scenario } from "../testing/scenario.ts";
import { type TranscriptEntry, tapped } from "../testing/transcript.ts";
import { encodeFrame, FrameSplitter } from "./frame.ts";
import { serveConnection } from "./serve-connection.ts";

/*
 * What both sides of version 1 say, recorded once. It is never recorded again: a later version gets
 * its own file, and both sides must still be able to talk to this one.
 */
const file = fileURLToPath(new URL("../testing/transcript-v1.json", import.meta.url));

interface Recording {
  readonly entries: readonly TranscriptEntry[];
  /** How the client interpreted the answers. */
  readonly results: readonly unknown[];
}

async function record(): Promise<Recording> {
  const guest = new MemoryGuest();
  const { client: near, server } = await connectedPair();
  serveConnection(server, { control: guest, info: () => info });
  const entries: TranscriptEntry[] = [];
  const splitters = { client: new FrameSplitter(1e9), launcher: new FrameSplitter(1e9) };
  const dial = async () =>
    tapped(near, (from, bytes) =>
      splitters[from].push(bytes, ({ message, attachment }) => {
        const frame = encodeFrame(message as object, attachment).toString("base64");
        entries.push({ from, frame, message });
      }),
    );
  const client = await connectLauncher({ dial, software: "recorded" });
  const results = await scenario(client, (change) => guest.become(change));
  await client.close();
  return { entries, results };
}

if (process.env["VIRTKIT_RECORD_CHANNEL"]) {
  writeFileSync(file, `${JSON.stringify(plain(await record()), null, 2)}\n`);
}

const { entries, results } = JSON.parse(readFileSync(file, "utf8")) as Recording;
const framesOf = (from: string): Buffer[] =>
  entries.filter((entry) => entry.from === from).map(({ frame }) => Buffer.from(frame, "base64"));

test("a client of the recorded version gets the recorded answers from this launcher", async () => {
  const { guest, end } = await rawServer();
  const inbox = inboxOf(end);
  let agentIsUp = false;
  for (const entry of entries) {
    if (entry.from === "client") {
      end.sendBytes(Buffer.from(entry.frame, "base64"));
      continue;
    }
    const wanted = entry.message as { id?: number; item?: { status?: { agent?: "connected" } } };
    // The agent connects by itself, between two of the client's words.
    if (wanted.item?.status?.agent === "connected" && !agentIsUp) {
      agentIsUp = true;
      guest.become(wanted.item.status);
    }
    expect(await inbox(wanted.id)).toMatchObject(wanted);
  }
});

/** Messages by the request that they belong to: an event and an answer may come in either order. */
function inboxOf(end: RawEnd): (id: number | undefined) => Promise<unknown> {
  const waiting: Record<string, unknown>[] = [];
  return async (id) => {
    for (;;) {
      const index = waiting.findIndex((message) => message["id"] === id);
      if (index >= 0) return waiting.splice(index, 1)[0];
      const message = await end.message();
      if (!message) return undefined;
      waiting.push(message);
    }
  };
}

test("this client interprets the recorded launcher's answers as recorded", async () => {
  const { end, dial } = await rawLauncher();
  const said = entries.map((entry) => ({ ...entry, bytes: Buffer.from(entry.frame, "base64") }));
  const launcher = (async () => {
    for (const { from, bytes } of said) {
      if (from === "launcher") end.sendBytes(bytes);
      else await end.next();
    }
  })();
  const client = await connectForTest({ dial, software: "recorded" });
  expect(plain(await scenario(client, () => {}))).toEqual(results);
  await launcher;
});

test("the transcript contains every kind of message, an attachment and a failure", () => {
  const types = new Set(
    entries.map(({ from, message }) => `${from} ${(message as { type: string }).type}`),
  );
  expect([...types].sort()).toEqual([
    "client cancel",
    "client hello",
    "client request",
    "launcher answer",
    "launcher hello",
    "launcher item",
  ]);
  expect(
    framesOf("launcher").some((frame) => frame.subarray(-3).equals(Buffer.from([1, 2, 3]))),
  ).toBe(true);
  expect(JSON.stringify(entries)).toContain("DOMAIN_STATE");
});

/** As it is after a way through JSON. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, each) => (each === undefined ? null : each)));
}
