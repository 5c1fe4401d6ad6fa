import { type Duplex, duplexPair } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ManualClock } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { MigrationError } from "../migration-error.ts";
import { encodeFrame, FrameReader, frameLimit } from "./control-frames.ts";
import { type ControlHandler, ControlLink } from "./control-link.ts";
import { answerHello } from "./handover-version.ts";
import { RedialingLink } from "./redialing-link.ts";

const failed = (path: string): object => expect.objectContaining({ code: "MIGRATION_PEER", path });
const turn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));

/** Two ends of which each goes with the other, as those of a socket do. */
function joined(): readonly [Duplex, Duplex] {
  const [a, b] = duplexPair();
  a.on("close", () => b.destroy());
  b.on("close", () => a.destroy());
  return [a, b];
}

function linked(handler: ControlHandler): { near: ControlLink; far: ControlLink } {
  const [a, b] = joined();
  return { near: new ControlLink(a), far: new ControlLink(b, { handler }) };
}

/** A peer of this version: it says which one it speaks, whoever asks. */
function greeted(handler: ControlHandler): ControlHandler {
  return async (method, params) =>
    method === "hello" ? answerHello(params) : await handler(method, params);
}

test("answers questions, including many at once, each with its own answer", async () => {
  const { near } = linked(async (method, params) => ({ method, ...Object(params) }));
  const answers = await Promise.all([1, 2, 3].map((n) => near.call("echo", { n })));
  expect(answers).toEqual([1, 2, 3].map((n) => ({ method: "echo", n })));
});

test("a rejection by the peer carries its code and field; other failures there reveal nothing", async () => {
  const { near } = linked(async (method) => {
    if (method === "odd") throw new Error("/secret/path");
    throw new MigrationError("MIGRATION_REFUSED", "not yours", { path: "migrationUID" });
  });
  await expect(near.call("release", {})).rejects.toMatchObject({
    code: "MIGRATION_REFUSED",
    message: "not yours",
    path: "migrationUID",
  });
  await expect(near.call("odd", {})).rejects.toThrow(expect.not.stringContaining("secret"));
});

test("a silent peer costs only the caller's timeout, and a late answer does no harm", async () => {
  const clock = new ManualClock();
  const [a, b] = joined();
  const near = new ControlLink(a, { clock });
  const asked = near.call("finish", {}, { timeout: 500 });
  asked.catch(() => {});
  await clock.pass(499);
  expect(clock.pending).toBe(1);
  await clock.pass(1);
  await expect(asked).rejects.toEqual(failed("finish"));
  b.write(encodeFrame({ id: 1, result: {} }));
  await turn();
  expect(clock.pending).toBe(0);
});

test("a lost link fails open and later questions, and a caller may give up", async () => {
  const { near, far } = linked(() => new Promise(() => {}));
  const open = near.call("finish", {});
  const stop = new AbortController();
  const given = near.call("finish", {}, { signal: stop.signal });
  stop.abort();
  await expect(given).rejects.toEqual(failed("finish"));
  far.close();
  await expect(open).rejects.toMatchObject({ code: "MIGRATION_PEER" });
  await expect(near.call("state", {})).rejects.toEqual(failed("state"));
});

test.each([
  ["a length beyond the limit", Buffer.from([0xff, 0xff, 0xff, 0xff])],
  ["something that is not JSON", Buffer.concat([Buffer.from([0, 0, 0, 1]), Buffer.from("{")])],
  ["JSON that is not an object", Buffer.concat([Buffer.from([0, 0, 0, 2]), Buffer.from("[]")])],
])("garbage ends the link: %s", async (_, bytes) => {
  const [a, b] = joined();
  const near = new ControlLink(a);
  b.write(bytes);
  await near.closed;
  await expect(near.call("state", {})).rejects.toEqual(failed("state"));
});

test("cuts off a peer that keeps asking without waiting for answers", async () => {
  const [a, b] = joined();
  const near = new ControlLink(a, { handler: () => new Promise(() => {}) });
  for (let id = 0; id < 17; id++) b.write(encodeFrame({ id, method: "state", params: {} }));
  await near.closed;
});

test("reads a whole message however it is split, even byte by byte, in little memory", () => {
  const message = { id: 1, result: { cookie: "x".repeat(200_000) } };
  const bytes = Buffer.concat([encodeFrame(message), encodeFrame({ id: 2 })]);
  for (const size of [1, 3, 4_096, bytes.length]) {
    const reader = new FrameReader();
    const read: object[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      reader.push(bytes.subarray(at, at + size), (each) => read.push(each));
    }
    expect(read).toEqual([message, { id: 2 }]);
  }
});

test("a link that has ended keeps nothing of an unfinished message", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const [a, b] = joined();
  const near = new ControlLink(a);
  const send = (): WeakRef<Buffer> => {
    const piece = Buffer.alloc(1024 * 1024, " ");
    piece.writeUInt32BE(frameLimit);
    b.write(piece);
    return new WeakRef(piece);
  };
  const piece = send();
  await turn();
  collect();
  expect(piece.deref()).toBeDefined();
  b.destroy();
  await near.closed;
  const isGone = async (): Promise<boolean> => {
    await turn();
    collect();
    return piece.deref() === undefined;
  };
  await expect.poll(isGone).toBe(true);
  // Whoever closes it later still has it.
  near.close();
});

test("rejects a message that is too long before sending it", () => {
  expect(() => encodeFrame({ xml: "x".repeat(frameLimit) })).toThrow(/too long/);
});

test("connects when needed, once for many questions, and again after a loss", async () => {
  const made: Duplex[] = [];
  const dial = async (): Promise<Duplex> => {
    const [a, b] = joined();
    new ControlLink(b, { handler: greeted(async () => ({ made: made.length })) });
    made.push(b);
    return a;
  };
  const link = new RedialingLink(dial);
  expect(made.length).toBe(0);
  const both = await Promise.all([link.call("state", {}), link.call("state", {})]);
  expect(both).toEqual([{ made: 1 }, { made: 1 }]);
  made[0]?.destroy();
  await turn();
  await turn();
  expect(await link.call("state", {})).toEqual({ made: 2 });
  await link.close();
});

test("a failed connection fails that question alone", async () => {
  let isDown = true;
  const link = new RedialingLink(async () => {
    if (isDown) throw new Error("nobody listens");
    const [a, b] = joined();
    new ControlLink(b, { handler: greeted(async () => ({})) });
    return a;
  });
  await expect(link.call("state", {})).rejects.toThrow("nobody listens");
  isDown = false;
  expect(await link.call("state", {})).toEqual({});
});

test("a peer that accepts no connection blocks nobody, and is dialled again", async () => {
  let dials = 0;
  const link = new RedialingLink(() => {
    dials++;
    return new Promise(() => {});
  });
  for (let call = 1; call <= 2; call++) {
    await expect(link.call("state", {}, { timeout: 5 })).rejects.toMatchObject({
      code: "MIGRATION_PEER",
      path: "state",
      message: expect.stringContaining("no link within 5 ms"),
    });
    expect(dials).toBe(call);
  }
  await link.close();
});

test("a peer that accepts a connection and never greets blocks nobody, and its connection ends", async () => {
  const made: Duplex[] = [];
  const link = new RedialingLink(async () => {
    const [a, b] = joined();
    made.push(b.resume());
    return a;
  });
  for (let call = 1; call <= 2; call++) {
    await expect(link.call("state", {}, { timeout: 5 })).rejects.toMatchObject({
      message: expect.stringContaining("no link within 5 ms"),
    });
    await turn();
    expect(made.map(({ destroyed }) => destroyed)).toEqual(Array(call).fill(true));
  }
});
