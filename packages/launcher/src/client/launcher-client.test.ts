import { isDomainManagerError, MayRun } from "@virtkit/domain-manager";
import { expect, test } from "vitest";
import { info, servedGuest } from "../testing/channel-fixture.ts";

const grant = { vmiUid: "vmi-1", podUid: "pod-1", epoch: 3 };
const mayRun = MayRun.fromAgent(grant);

test("every verb reaches the guest, and its answer the caller", async () => {
  const { guest, client } = await servedGuest();
  const vmi = { metadata: { uid: "vmi-1" }, spec: {} } as never;
  const context = { architecture: "amd64" };
  await client.ping();
  expect(await client.info()).toEqual(info);
  expect(await client.syncVmi({ vmi, context, mayRun })).toMatchObject({ state: "Running" });
  await client.pause();
  expect(await client.status()).toMatchObject({ state: "Paused", reason: "User" });
  await client.unpause(mayRun);
  await client.freeze({ unfreezeAfterSeconds: 5 });
  await client.unfreeze();
  await client.softReboot();
  await client.reset();
  expect(await client.exec({ command: "ls", args: ["-l"], timeoutSeconds: 1 })).toEqual({
    exitCode: 0,
    stdout: "any\0thing",
    stderr: "",
  });
  await client.guestPing({ timeoutSeconds: 1 });
  expect(await client.users()).toHaveLength(1);
  expect(await client.fileSystems()).toMatchObject([{ disks: [{ serial: "s" }] }]);
  expect(await client.stats()).toMatchObject({ "cpu.time": 5, "state.odd": false });
  guest.picture = new Uint8Array(3_000_000).fill(7);
  const { mime, data } = await client.screenshot();
  expect([mime, data.length, data[2_999_999]]).toEqual(["image/png", 3_000_000, 7]);
  await client.memoryDump({ path: "/dump" });
  await client.shutdown();
  await client.kill();
  await client.delete();
  expect(guest.calls.map(({ verb }) => verb)).toEqual(
    [
      "syncVmi pause status unpause freeze unfreeze softReboot reset exec guestPing users",
      "fileSystems stats screenshot memoryDump shutdown kill delete",
    ]
      .join(" ")
      .split(" "),
  );
  expect(guest.calls[0]?.args).toEqual({ vmi, context, mayRun: grant });
});

test("rejects with the same error as the guest's control", async () => {
  const { client } = await servedGuest();
  const error = await client.pause().catch((caught: unknown) => caught);
  expect(isDomainManagerError(error)).toBe(true);
  expect(error).toMatchObject({ code: "DOMAIN_STATE", path: "pause" });
  expect(String(error)).toContain("only a running one can be paused");
});

test("hides the text of a launcher's defect from the caller", async () => {
  const defects: unknown[] = [];
  const { guest, client } = await servedGuest({ onDefect: (verb) => void defects.push(verb) });
  guest.before = async () => {
    throw new TypeError("the password is hunter2");
  };
  const error = await client.reset().catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "LAUNCHER_FAILED" });
  expect(String(error)).not.toContain("hunter2");
  expect(defects).toEqual(["reset"]);
});

test("events begin with the status and come in order", async () => {
  const { guest, client } = await servedGuest();
  const seen: string[] = [];
  for await (const event of client.events()) {
    seen.push(event.kind === "status" ? event.status.state : event.kind);
    if (seen.length === 1) {
      guest.become({ state: "Running" });
      guest.tell({ at: "t", kind: "stage", stage: "guest-running", state: "done" });
      guest.become({ state: "Paused" });
    }
    if (seen.length === 4) break;
  }
  expect(seen).toEqual(["Absent", "Running", "stage", "Paused"]);
  await expect.poll(() => guest.readers).toBe(0);
});

test("a stalled reader gets a resync with the newest status", async () => {
  const { guest, client } = await servedGuest({ maxQueuedEvents: 8 });
  const events = client.events()[Symbol.asyncIterator]();
  await events.next();
  for (let index = 0; index < 5_000; index++) guest.become({ hostname: `host-${index}` });
  await client.ping();
  const seen: string[] = [];
  for (;;) {
    const { value } = await events.next();
    seen.push(value.kind === "status" ? value.status.hostname : value.kind);
    if (seen.at(-1) === "host-4999") break;
  }
  const at = seen.indexOf("resync");
  expect(at).toBeGreaterThan(0);
  expect(seen[at + 1]).toMatch(/^host-/);
  expect(seen.length).toBeLessThan(200);
});

test("the launcher also keeps a caller's deadline", async () => {
  const { guest, client } = await servedGuest();
  let aborted = false;
  guest.before = (verb, options) =>
    verb === "reset"
      ? new Promise((_, reject) => {
          options?.signal?.addEventListener("abort", () => {
            aborted = true;
            reject(options.signal?.reason);
          });
        })
      : Promise.resolve();
  await expect(client.reset({ timeout: 20 })).rejects.toMatchObject({ code: "DOMAIN_TIMEOUT" });
  await expect.poll(() => aborted).toBe(true);
});

test("a caller that gives up ends the work on the other side", async () => {
  const { guest, client } = await servedGuest();
  const controller = new AbortController();
  const aborted = new Promise((resolve) => {
    guest.before = async (_, options) => {
      options?.signal?.addEventListener("abort", resolve);
      controller.abort();
      await aborted;
    };
  });
  await expect(client.reset(controller)).rejects.toMatchObject({ code: "LAUNCHER_ABORTED" });
  await aborted;
  await expect(client.reset({ signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "LAUNCHER_ABORTED",
  });
});

test("calls above the launcher's limit wait for their turn", async () => {
  const { guest, client } = await servedGuest({ maxInFlight: 2 });
  let [now, most] = [0, 0];
  guest.before = async () => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setImmediate(resolve));
    now--;
  };
  await Promise.all(Array.from({ length: 50 }, () => client.reset()));
  expect(most).toBe(2);
});

test("a lost connection fails waiting calls and all later ones", async () => {
  const { guest, client } = await servedGuest();
  guest.before = () => new Promise(() => {});
  const events = client.events()[Symbol.asyncIterator]();
  await events.next();
  const waiting = client.reset();
  await client.close();
  const closed = expect.objectContaining({ code: "LAUNCHER_CLOSED" });
  await expect(waiting).rejects.toEqual(closed);
  await expect(events.next()).rejects.toEqual(closed);
  await expect(client.ping()).rejects.toEqual(closed);
  await expect(client.events()[Symbol.asyncIterator]().next()).rejects.toEqual(closed);
});

test("does not send a request that is too large, and the connection lives", async () => {
  const { client } = await servedGuest();
  const vmi = { metadata: { name: "x".repeat(5_000_000) } } as never;
  await expect(
    client.syncVmi({ vmi, context: { architecture: "amd64" }, mayRun }),
  ).rejects.toMatchObject({ code: "LAUNCHER_ARGUMENT" });
  await client.ping();
});
