import { expect, test } from "vitest";
import { connectForTest } from "../testing/channel-fixture.ts";
import { rawLauncher } from "../testing/raw-channel.ts";
import { connectLauncher } from "./connect-launcher.ts";

const hello = { type: "hello", versions: [1], inFlight: 4 };

test("the error for a missing launcher names the path of its socket", async () => {
  await expect(connectLauncher({ path: "/nowhere/launcher-sock" })).rejects.toMatchObject({
    code: "LAUNCHER_CONNECT",
    message: expect.stringContaining("/nowhere/launcher-sock"),
  });
  await expect(connectLauncher({})).rejects.toMatchObject({ code: "LAUNCHER_ARGUMENT" });
});

test("gives up a silent launcher in time, or when its caller does", async () => {
  const one = await rawLauncher();
  await expect(connectLauncher({ dial: one.dial, timeout: 5 })).rejects.toMatchObject({
    code: "LAUNCHER_CONNECT",
  });
  const other = await rawLauncher();
  await expect(
    connectLauncher({ dial: other.dial, signal: AbortSignal.abort() }),
  ).rejects.toMatchObject({ code: "LAUNCHER_ABORTED" });
});

test("without a version in common, both sides say which they speak", async () => {
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

test("understands a newer launcher with more versions, fields, messages and events", async () => {
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
  ["an answer to no request", () => ({ type: "answer", id: 77, success: true })],
  ["hello twice", () => hello],
  [
    "a status without a state",
    (id) => ({ type: "answer", id, success: true, result: { name: "n" } }),
  ],
  ["no status at all", (id) => ({ type: "answer", id, success: true })],
  ["success that is not a boolean", (id) => ({ type: "answer", id, success: "yes" })],
  ["a fault", () => ({ type: "fault", message: "no" })],
])("%s from a launcher fails only the call", async (_, answer) => {
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

test("disconnects a launcher that sends more events than it may", async () => {
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

test("reports an unknown code of a launcher as the cause", async () => {
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
