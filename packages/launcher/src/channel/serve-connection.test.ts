import { expect, test } from "vitest";
import { type RawEnd, rawServer } from "../testing/raw-channel.ts";
import { verbs } from "./verbs.ts";

const hello = { type: "hello", versions: [1], software: "test" };

async function greeted(options = {}): Promise<Awaited<ReturnType<typeof rawServer>>> {
  const served = await rawServer(options);
  served.end.send(hello);
  expect(await served.end.message()).toMatchObject({ type: "hello", versions: [1] });
  return served;
}

async function fault(end: RawEnd): Promise<unknown> {
  const message = await end.message();
  expect(message?.["type"]).toBe("fault");
  expect(await end.next()).toBeUndefined();
  return message?.["code"];
}

test("sends the client the known versions if there is none in common", async () => {
  const { end } = await rawServer();
  end.send({ ...hello, versions: [2, 3] });
  const message = await end.message();
  expect(message).toMatchObject({ type: "fault", code: "LAUNCHER_VERSION" });
  expect(message?.["message"]).toContain("2, 3");
  expect(await end.next()).toBeUndefined();
});

test.each<[string, object[]]>([
  ["a request before hello", [{ type: "request", id: 1, verb: "ping" }]],
  ["hello twice", [hello, hello]],
  ["no type", [{ id: 1 }]],
  ["a list", [[]]],
  ["an invalid id", [hello, { type: "request", id: 0, verb: "ping" }]],
  ["a verb that is not a string", [hello, { type: "request", id: 1, verb: 7 }]],
])("%s ends the connection", async (_, messages) => {
  const { end, ended } = await rawServer();
  for (const message of messages) end.send(message);
  if (messages[0] === hello) await end.next();
  expect(await fault(end)).toBe("LAUNCHER_PROTOCOL");
  await ended;
});

test("accepts only small messages before hello, and large ones afterwards", async () => {
  const { end } = await rawServer();
  end.send({ ...hello, more: "x".repeat(70_000) });
  expect(await fault(end)).toBe("LAUNCHER_PROTOCOL");
  const other = await greeted();
  other.end.send({ type: "request", id: 1, verb: "ping", args: "x".repeat(3_000_000) });
  expect(await other.end.message()).toMatchObject({ id: 1, success: true });
});

test("disconnects a silent client", async () => {
  const { end } = await rawServer({ helloTimeout: 5 });
  expect(await fault(end)).toBe("LAUNCHER_PROTOCOL");
});

test("rejects an id that is in use", async () => {
  const { guest, end } = await greeted();
  guest.before = () => new Promise(() => {});
  end.send({ type: "request", id: 1, verb: "reset" });
  end.send({ type: "request", id: 1, verb: "reset" });
  expect(await fault(end)).toBe("LAUNCHER_PROTOCOL");
});

test("requests above the limit fail at once, and the connection lives", async () => {
  const { guest, end } = await greeted({ maxInFlight: 1 });
  let release = (): void => {};
  guest.before = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  end.send({ type: "request", id: 1, verb: "reset" });
  end.send({ type: "request", id: 2, verb: "reset" });
  expect(await end.message()).toMatchObject({ id: 2, success: false, code: "LAUNCHER_BUSY" });
  release();
  expect(await end.message()).toMatchObject({ id: 1, success: true });
});

test("a request that timed out keeps its place until its work has ended", async () => {
  const { guest, end } = await greeted({ maxInFlight: 1 });
  let release = (): void => {};
  guest.before = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  end.send({ type: "request", id: 1, verb: "reset", timeout: 1 });
  expect(await end.message()).toMatchObject({ id: 1, success: false, code: "DOMAIN_TIMEOUT" });
  end.send({ type: "request", id: 2, verb: "reset" });
  expect(await end.message()).toMatchObject({ id: 2, code: "LAUNCHER_BUSY" });
  release();
  guest.before = async () => {};
  await new Promise((resolve) => setImmediate(resolve));
  end.send({ type: "request", id: 3, verb: "reset" });
  expect(await end.message()).toMatchObject({ id: 3, success: true });
});

test.each<[string, object]>([
  ["syncVmi", {}],
  ["syncVmi", { vmi: {}, context: {}, mayRun: { vmiUid: "a", podUid: "b" } }],
  ["syncVmi", { vmi: [], context: {}, mayRun: { vmiUid: "a", podUid: "b", epoch: 1 } }],
  ["unpause", { mayRun: { vmiUid: "a", podUid: "b", epoch: 0 } }],
  ["unpause", {}],
  ["freeze", { unfreezeAfterSeconds: -1 }],
  ["exec", { command: ["ls"] }],
  ["exec", { command: "ls", args: [1] }],
  ["guestPing", {}],
  ["memoryDump", { path: "a\0b" }],
  ["events", { credit: -1 }],
])("does not carry out %s with %j", async (verb, args) => {
  const { guest, end } = await greeted();
  end.send({ type: "request", id: 1, verb, args });
  expect(await end.message()).toMatchObject({ id: 1, success: false, code: "LAUNCHER_ARGUMENT" });
  expect(guest.calls).toEqual([]);
});

test("rejects an invalid grant as a proof", async () => {
  const { guest, end } = await greeted();
  const mayRun = { vmiUid: "", podUid: "b", epoch: 1 };
  end.send({ type: "request", id: 1, verb: "unpause", args: { mayRun } });
  expect(await end.message()).toMatchObject({ id: 1, success: false, code: "DOMAIN_NOT_GRANTED" });
  expect(guest.calls).toEqual([]);
});

test("explains the failure of a verb that only a newer client knows", async () => {
  const { end } = await greeted();
  for (const verb of ["teleport", "constructor", "__proto__"]) {
    end.send({ type: "request", id: 1, verb });
    const message = await end.message();
    expect(message).toMatchObject({ id: 1, success: false, code: "LAUNCHER_VERB" });
    expect(message?.["message"]).toContain(verb);
  }
});

test("serves a newer client with more versions, fields and messages", async () => {
  const { guest, end } = await rawServer();
  end.send({ ...hello, versions: [1, 2, 7], features: ["compression"] });
  expect(await end.message()).toMatchObject({ type: "hello", versions: [1] });
  end.send({ type: "trace", id: 4 });
  end.send({
    type: "request",
    id: 1,
    verb: "freeze",
    args: { unfreezeAfterSeconds: 3, quiesce: 1 },
    trace: "x",
  });
  expect(await end.message()).toEqual({ type: "answer", id: 1, success: true });
  expect(guest.calls).toEqual([{ verb: "freeze", args: { unfreezeAfterSeconds: 3 } }]);
});

test("aborts abandoned work when the connection ends", async () => {
  const { guest, end, ended } = await greeted();
  const aborted = new Promise((resolve) => {
    guest.before = async (_, options) => {
      options?.signal?.addEventListener("abort", resolve);
      await new Promise(() => {});
    };
  });
  end.send({ type: "request", id: 1, verb: "reset" });
  await expect.poll(() => guest.calls.length).toBe(1);
  end.close();
  await ended;
  await aborted;
});

test("events stop when the credit is used up, and continue with more", async () => {
  const { guest, end } = await greeted();
  end.send({ type: "request", id: 9, verb: "events", args: { credit: 2 } });
  expect(await end.message()).toMatchObject({ type: "item", id: 9, item: { kind: "status" } });
  for (let index = 0; index < 3; index++) guest.become({ hostname: `h${index}` });
  expect(await end.message()).toMatchObject({ item: { status: { hostname: "h0" } } });
  end.send({ type: "request", id: 10, verb: "ping" });
  expect(await end.message()).toMatchObject({ type: "answer", id: 10 });
  end.send({ type: "credit", id: 9, count: 5 });
  expect(await end.message()).toMatchObject({ item: { status: { hostname: "h1" } } });
  expect(await end.message()).toMatchObject({ item: { status: { hostname: "h2" } } });
  end.send({ type: "cancel", id: 9 });
  expect(await end.message()).toEqual({ type: "answer", id: 9, success: true });
  await expect.poll(() => guest.readers).toBe(0);
});

test("turns an answer that is too large into a failure", async () => {
  const { guest, end } = await greeted();
  guest.picture = new Uint8Array(65 * 1024 * 1024);
  end.send({ type: "request", id: 1, verb: "screenshot" });
  expect(await end.message()).toMatchObject({ id: 1, success: false, code: "LAUNCHER_FAILED" });
});

test("lists KubeVirt's name for each verb", () => {
  const known = Object.values(verbs)
    .flatMap(({ kubevirt }) => kubevirt.split(", "))
    .filter((name) => name !== "");
  expect(known).toContain("SyncVirtualMachine");
  expect(known).toContain("GetDomainStats");
  expect(new Set(known).size).toBe(known.length);
});
