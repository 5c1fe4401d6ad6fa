import { expect, test } from "vitest";
import { connectForTest } from "../testing/channel-fixture.ts";
import { rawLauncher } from "../testing/raw-channel.ts";
import { connectLauncher } from "./connect-launcher.ts";

const hello = { type: "hello", versions: [1], inFlight: 4 };

test("nobody at the socket is said with its path", async () => {
  await expect(connectLauncher({ path: "/nowhere/launcher-sock" })).rejects.toMatchObject({
    code: "LAUNCHER_CONNECT",
    message: expect.stringContaining("/nowhere/launcher-sock"),
  });
  await expect(connectLauncher({})).rejects.toMatchObject({ code: "LAUNCHER_ARGUMENT" });
});

test("a launcher that says nothing is given up in time, or by its caller", async () => {
  const one = await rawLauncher();
  await expect(connectLauncher({ dial: one.dial, timeout: 5 })).rejects.toMatchObject({
    code: "LAUNCHER_CONNECT",
  });
  const other = await rawLauncher();
  await expect(
    connectLauncher({ dial: other.dial, signal: AbortSignal.abort() }),
  ).rejects.toMatchObject({ code: "LAUNCHER_ABORTED" });
});

test("without a version in common both sides say which they speak", async () => {
  const { end, dial } = await rawLauncher();
  end.send({ ...hello, versions: [5] });
  await expect(connectLauncher({ dial })).rejects.toMatchObject({
    code: "LAUNCHER_VERSION",
    message: expect.stringMatching(/versions 5 .* this client 1/),
  });
  const older = await rawLauncher();
  older.end.send({ type: "fault", code: "LAUNCHER_VERSION", message: "too new" });
  await expect(connectLauncher({ dial: older.dial })).rejects.toMatchObject({
    code: "LAUNCHER_VERSION",
  });
});

test("a newer launcher with more versions, fields, messages and events is understood", async () => {
  const { end, dial } = await rawLauncher();
  end.send({ ...hello, versions: [1, 2], features: [] });
  const client = await connectForTest({ dial });
  await end.next();
  const asked = client.status();
  const { id } = (await end.message()) ?? {};
  const status = {
    name: "n",
    state: "Hibernating",
    reason: "New",
    agent: "connected",
    interfaces: [{ mac: "m", ips: [], speed: 1 }],
    disks: [],
    temperature: 40,
  };
  end.send({ type: "notice", text: "hello" });
  end.send({ type: "answer", id, success: true, result: status, took: 1 });
  expect(await asked).toEqual({ ...status, state: "NoState" });
  const events = client.events()[Symbol.asyncIterator]();
  const stream = (await end.message())?.["id"];
  end.send({ type: "item", id: stream, item: { at: "t", kind: "temperature" } });
  end.send({ type: "item", id: stream, item: { at: "t", kind: "resync" } });
  expect(await events.next()).toMatchObject({ value: { kind: "resync" } });
});

test.each<[string, (id: unknown) => object]>([
  ["an answer to nobody", () => ({ type: "answer", id: 77, success: true })],
  ["hello twice", () => hello],
  [
    "a status without a state",
    (id) => ({ type: "answer", id, success: true, result: { name: "n" } }),
  ],
  ["no status at all", (id) => ({ type: "answer", id, success: true })],
  ["success that is no flag", (id) => ({ type: "answer", id, success: "yes" })],
  ["a fault", () => ({ type: "fault", message: "no" })],
])("%s from a launcher fails the call and nothing else", async (_, answer) => {
  const { end, dial } = await rawLauncher();
  end.send(hello);
  const client = await connectForTest({ dial });
  await end.next();
  const asked = client.status();
  asked.catch(() => {});
  const { id } = (await end.message()) ?? {};
  end.send(answer(id));
  await expect(asked).rejects.toMatchObject({ code: "LAUNCHER_PROTOCOL" });
});

test("a launcher that sends more events than it may loses its client", async () => {
  const { end, dial } = await rawLauncher();
  end.send(hello);
  const client = await connectForTest({ dial });
  await end.next();
  const events = client.events()[Symbol.asyncIterator]();
  const { id } = (await end.message()) ?? {};
  for (let index = 0; index < 65; index++) {
    end.send({ type: "item", id, item: { at: "t", kind: "resync" } });
  }
  await client.closed;
  for (let index = 0; index < 64; index++) await events.next();
  await expect(events.next()).rejects.toMatchObject({ code: "LAUNCHER_PROTOCOL" });
});

test("a code of a launcher that is not known here is told as its cause", async () => {
  const { end, dial } = await rawLauncher();
  end.send(hello);
  const client = await connectForTest({ dial });
  await end.next();
  const asked = client.reset();
  const { id } = (await end.message()) ?? {};
  end.send({ type: "answer", id, success: false, code: "ENOSPC", message: "the disk is full" });
  await expect(asked).rejects.toMatchObject({
    code: "LAUNCHER_FAILED",
    cause: "ENOSPC",
    message: "reset: the disk is full",
  });
});
