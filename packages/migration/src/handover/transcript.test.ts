import { readFileSync, writeFileSync } from "node:fs";
import { type Duplex, duplexPair } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { encodeFrame, FrameReader } from "./control-frames.ts";
import { ControlLink } from "./control-link.ts";
import { RedialingLink } from "./redialing-link.ts";
import { serveTarget, type TargetEnd, targetOver } from "./target-end.ts";

/*
 * What source and target of each version say to each other, recorded once. It is never recorded again: a later version gets a
 * file of its own, and both sides must go on to talk to those before it.
 */
const versions = [1, 2] as const;
const fileOf = (version: number): string =>
  fileURLToPath(new URL(`../testing/handover-v${version}.json`, import.meta.url));

interface Entry {
  readonly from: "source" | "target";
  readonly message: Readonly<Record<string, unknown>>;
}

const migration = { migrationUID: "m-1", vmiUID: "vmi-1", epoch: 1, seq: 4 };

/** Everything that a source asks of its target, in the order of a move; then one of another handover, and an abort. */
async function scenario(target: TargetEnd): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  const note = async (asked: Promise<unknown>): Promise<void> => {
    results.push(await asked.catch(({ code, path }) => ({ code, path })));
  };
  const xml = "<domain><name>default_demo</name></domain>";
  const flags = ["live", "nonSharedIncremental"];
  await note(target.state(migration));
  await note(
    target.prepare({
      ...{ migration, xml, flags, cookie: Buffer.from("begin"), paused: false },
      ...{ connections: 2, compression: "zstd", disks: ["vda"] },
    }),
  );
  await note(target.finish({ migration, cookie: Buffer.from("perform"), flags: ["paused"] }));
  await note(target.release(migration));
  await note(target.state(migration));
  await note(target.release({ ...migration, seq: 5 }));
  await note(target.abort(migration));
  return JSON.parse(JSON.stringify(results));
}

/** A target as this version's receiver answers, without libvirt. */
function answering(): TargetEnd & { readonly asked: unknown[] } {
  const asked: unknown[] = [];
  const note = (what: string, request: object): void => {
    asked.push(JSON.parse(JSON.stringify([what, request])));
  };
  return {
    asked,
    prepare: async (request) => {
      note("prepare", request);
      return { cookie: Buffer.from("prepared") };
    },
    finish: async (request) => {
      note("finish", request);
      return { cookie: Buffer.from("finished") };
    },
    release: async (request) => note("release", request),
    abort: async (request) => note("abort", request),
    state: async (request) => {
      note("state", request);
      return asked.length > 2 ? "whole" : "absent";
    },
  };
}

/** A pair of streams, of which one tells what passes. */
function tapped(entries: Entry[]): readonly [Duplex, Duplex] {
  const [source, target] = duplexPair();
  for (const [stream, from] of [
    [source, "source"],
    [target, "target"],
  ] as const) {
    const reader = new FrameReader();
    const write = stream.write.bind(stream) as (chunk: Buffer) => boolean;
    stream.write = ((chunk: Buffer): boolean => {
      reader.push(chunk, (message) => void entries.push({ from, message }));
      return write(chunk);
    }) as Duplex["write"];
  }
  return [source, target];
}

async function record(): Promise<object> {
  const entries: Entry[] = [];
  const [near, far] = tapped(entries);
  const target = answering();
  const served = new ControlLink(far, { handler: serveTarget(target) });
  const link = new RedialingLink(async () => near);
  const results = await scenario(targetOver(link));
  await link.close();
  served.close();
  return { entries, results, asked: target.asked };
}

if (process.env["VIRTKIT_RECORD_HANDOVER"]) {
  writeFileSync(fileOf(Math.max(...versions)), `${JSON.stringify(await record(), null, 2)}\n`);
}

interface Recorded {
  readonly entries: readonly Entry[];
  readonly results: readonly unknown[];
  readonly asked: readonly unknown[];
}

const transcripts = versions.map((version) => {
  const recorded = JSON.parse(readFileSync(fileOf(version), "utf8")) as Recorded;
  return [version, recorded] as const;
});
const isHello = ({ message }: Entry): boolean => message["method"] === "hello";

test("version 1 has no hello, and later ones begin with one", () => {
  const first = transcripts.map(([version, { entries }]) => [version, entries.findIndex(isHello)]);
  expect(first).toEqual([
    [1, -1],
    [2, 0],
  ]);
});

test.each(transcripts)(
  "a source of version %i gets the recorded answers from this target",
  async (_, recorded) => {
    const [near, far] = duplexPair();
    const target = answering();
    const served = new ControlLink(far, { handler: serveTarget(target) });
    const answers: unknown[] = [];
    const reader = new FrameReader();
    near.on("data", (chunk: Buffer) => reader.push(chunk, (message) => void answers.push(message)));
    const told = recorded.entries.filter(({ from }) => from === "target");
    for (const { from, message } of recorded.entries) {
      if (from === "source") near.write(encodeFrame(message));
    }
    await expect.poll(() => answers.length).toBe(told.length);
    expect(answers).toEqual(told.map(({ message }) => message));
    expect(target.asked).toEqual(recorded.asked);
    served.close();
  },
);

test.each(transcripts)(
  "a target of version %i gets the recorded questions from this source, and its answers mean the same",
  async (version, recorded) => {
    const [near, far] = duplexPair();
    const requests: object[] = [];
    const reader = new FrameReader();
    const told = recorded.entries.filter(({ from }) => from === "target");
    far.on("data", (chunk: Buffer) =>
      reader.push(chunk, ({ id, ...message }) => {
        if (version === 1 && message["method"] === "hello") {
          // It looks for the migration before it looks at the method.
          const path = "hello.migration.migrationUID";
          const error = { code: "MIGRATION_INPUT_INVALID", message: `${path} must be a UID`, path };
          return void far.write(encodeFrame({ id, error }));
        }
        requests.push(message);
        const answer = told[requests.length - 1];
        if (answer) far.write(encodeFrame({ ...answer.message, id }));
      }),
    );
    const link = new RedialingLink(async () => near);
    expect(await scenario(targetOver(link))).toEqual(recorded.results);
    expect(link.version).toBe(version);
    const asked = recorded.entries.filter(({ from }) => from === "source");
    expect(requests).toEqual(asked.map(({ message: { id: _, ...message } }) => message));
    await link.close();
  },
);

test("a newer side may say more: unknown fields change nothing", async () => {
  const [near, far] = duplexPair();
  const target = answering();
  const served = new ControlLink(far, { handler: serveTarget(target) });
  const link = new ControlLink(near);
  const answer = await link.call("state", { migration: { ...migration, later: 1 }, also: true });
  expect(answer).toEqual({ state: "absent" });
  expect(target.asked).toEqual([["state", migration]]);
  await expect(link.call("laterMethod", { migration })).rejects.toMatchObject({
    code: "MIGRATION_INPUT_INVALID",
  });
  link.close();
  served.close();
});

test("an older target without a method says so, and the link goes on", async () => {
  const [near, far] = duplexPair();
  const older = serveTarget(answering());
  const served = new ControlLink(far, {
    handler: async (method, ...rest) =>
      await older(method === "release" ? "olderName" : method, ...rest),
  });
  const link = new ControlLink(near);
  const target = targetOver(link);
  await expect(target.release(migration)).rejects.toMatchObject({
    code: "MIGRATION_INPUT_INVALID",
    path: "method",
  });
  expect(await target.state(migration)).toBe("absent");
  link.close();
  served.close();
});
