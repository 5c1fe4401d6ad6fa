import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { connectLauncher } from "../client/connect-launcher.ts";
import type { LauncherClient } from "../client/launcher-client.ts";
import { connectForTest, info } from "../testing/channel-fixture.ts";
import { connectedPair } from "../testing/connected-pair.ts";
import { MemoryGuest } from "../testing/memory-guest.ts";
import { MemoryMigrations } from "../testing/memory-migrations.ts";
import { migrationScenario } from "../testing/migration-scenario.ts";
import { rawLauncher, rawServer } from "../testing/raw-channel.ts";
import { type TranscriptEntry, tapped } from "../testing/transcript.ts";
import { encodeFrame, FrameSplitter } from "./frame.ts";
import { serveConnection } from "./serve-connection.ts";

/*
 * What a node agent and the launchers of a migration say in version 1, recorded once. It is never recorded again: a later
 * version gets its own file, and both sides must still be able to talk to this one.
 */
const file = fileURLToPath(new URL("../testing/migration-v1.json", import.meta.url));

interface Recording {
  readonly entries: readonly TranscriptEntry[];
  /** How the client interpreted the answers. */
  readonly results: readonly unknown[];
  /** What the launcher understood. */
  readonly asked: readonly unknown[];
}

async function record(): Promise<Recording> {
  const migrations = new MemoryMigrations();
  const { client: near, server } = await connectedPair();
  serveConnection(server, { control: new MemoryGuest(), info: () => info, migrations });
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
  const results = await migrationScenario(client);
  await client.close();
  return { entries, results, asked: migrations.asked };
}

if (process.env["VIRTKIT_RECORD_CHANNEL_MIGRATION"]) {
  writeFileSync(file, `${JSON.stringify(plain(await record()), null, 2)}\n`);
}

const { entries, results, asked } = JSON.parse(readFileSync(file, "utf8")) as Recording;
const bytesOf = ({ frame }: TranscriptEntry): Buffer => Buffer.from(frame, "base64");

test("an agent of the recorded version gets the recorded answers about a migration, and this launcher understands it as recorded", async () => {
  const migrations = new MemoryMigrations();
  const { end } = await rawServer({ migrations });
  for (const entry of entries) {
    if (entry.from === "client") end.sendBytes(bytesOf(entry));
    else expect(await end.message()).toEqual(entry.message);
  }
  expect(migrations.asked).toEqual(asked);
});

test("this agent asks a launcher of the recorded version about a migration as recorded, and interprets its answers as recorded", async () => {
  const { end, dial } = await rawLauncher();
  const sent: unknown[] = [];
  const launcher = (async () => {
    for (const entry of entries) {
      if (entry.from === "launcher") end.sendBytes(bytesOf(entry));
      else sent.push(await end.message());
    }
  })();
  const client = await connectForTest({ dial, software: "recorded" });
  expect(plain(await migrationScenario(client))).toEqual(results);
  await launcher;
  const recorded = entries.filter(({ from }) => from === "client");
  expect(sent).toEqual(recorded.map(({ message }) => message));
});

const verbsOfMigration = [
  ...(["migrate", "measureGuest", "receiveMigration", "followMigration"] as const),
  ...(["cancelMigration", "switchToPostCopy", "releaseMigration", "migrationDecision"] as const),
  ...(["noteGrant", "noteClaim"] as const),
];

test("the transcript has every verb of a migration", () => {
  const all = asked.map((each) => (each as { readonly verb: string }).verb);
  expect([...new Set(all)].sort()).toEqual([...verbsOfMigration].sort());
});

test.each(verbsOfMigration)(
  "an older launcher without the verb %s says so, and the connection goes on",
  async (verb) => {
    const { end, dial } = await rawLauncher();
    end.send({ type: "hello", versions: [1] });
    const client = await connectForTest({ dial });
    await end.next();
    const recorded = entries.find(({ message }) => (message as { verb?: unknown }).verb === verb);
    const { args } = (recorded?.message ?? {}) as { args: { mayRun?: unknown } };
    const given = args.mayRun ? { ...args, mayRun: { grant: args.mayRun } } : args;
    const method = client[verb].bind(client) as (
      args: unknown,
    ) => ReturnType<LauncherClient["ping"]>;
    const called = method(given).catch((error: unknown) => error);
    const { id } = (await end.message()) ?? {};
    const message = `there is no verb ${verb}`;
    end.send({ type: "answer", id, success: false, code: "LAUNCHER_VERB", message });
    expect(await called).toMatchObject({ code: "LAUNCHER_VERB" });
    const next = client.ping();
    const ping = await end.message();
    end.send({ type: "answer", id: ping?.["id"], success: true });
    await next;
  },
);

test("a newer agent may say more about a migration: unknown fields, and proofs of an unknown kind, change nothing", async () => {
  const migrations = new MemoryMigrations();
  const { end } = await rawServer({ migrations });
  end.send({ type: "hello", versions: [1, 2] });
  await end.message();
  const proof = { kind: "containerTerminated", containerID: "c", reason: "Completed" };
  const args = { migrationUID: "m-1", grant: "g", later: 1, proofs: [{ kind: "oath" }, proof] };
  end.send({ type: "request", id: 1, verb: "noteGrant", args });
  expect(await end.message()).toMatchObject({ id: 1, success: true });
  const known = { migrationUID: "m-1", grant: "g", proofs: [proof] };
  expect(migrations.asked).toEqual([{ verb: "noteGrant", args: known }]);
});

/** As it is after a way through JSON. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, each) => (each === undefined ? null : each)));
}
