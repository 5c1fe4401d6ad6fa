import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectVmi, readRecord } from "@virtkit/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DemoHost, freePort, until } from "../testing/demo-host.ts";

let host: DemoHost;
let port = 0;
let bootId = "";

/** What the guest answers through its published port, retried until it does. */
async function ask(): Promise<string> {
  let answer = "";
  await until(async () => {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        signal: AbortSignal.timeout(2_000),
      });
      answer = await response.text();
    } catch {
      return false;
    }
    return answer.includes("boot_id=");
  }, "an answer of the guest");
  return answer;
}

beforeAll(async () => {
  host = await DemoHost.make();
  port = await freePort();
  const { code, err } = await host
    .run(["--publish", `${port}:80`, "--detach", "--wait", "agent-connected"])
    .end();
  expect(err).toContain("agent-connected");
  expect(code).toBe(0);
  bootId = await ask();
});
afterAll(async () => await host?.[Symbol.asyncDispose]());

/** Only the present Pod is left, and the guest is the one that was started. */
async function expectOnlyGuest(earlier: readonly string[]): Promise<void> {
  expect(host.podFolders()).toEqual(host.podUids());
  expect(await host.leftovers(earlier.filter((uid) => !host.podUids().includes(uid)))).toEqual([]);
  expect(existsSync(join(host.directory, "moves/default_demo"))).toBe(false);
  expect(await ask()).toBe(bootId);
  expect((await host.state()).state).toBe("Running");
}

test("a guest moves into a new sandbox; ports, ps, why and console follow it", async () => {
  const before = host.podUids();
  const { code, err } = await host.virtkit("migrate", "demo", "--watch");
  expect(err).toMatch(/demo: it moved in [\d.]+ s, with a downtime of \d+ ms/);
  expect(err).toMatch(/\[#*\.*\] +\d+ % {2}copying memory/);
  expect(code).toBe(0);
  expect(host.podUids()).not.toEqual(before);
  await expectOnlyGuest(before);
  const why = await host.virtkit("why", "demo");
  expect(why.out).toContain("it moved in");
  expect(why.out).toContain(host.podUids()[0]);
  const console = host.start("console", "demo");
  await console.untilSaid(/Console of demo/);
  console.child.kill("SIGKILL");
  await console.end();
});

/** A process that moves the guest slowly enough to be caught doing so. */
async function slowMove(bandwidth: string): Promise<ReturnType<DemoHost["start"]>> {
  const moving = host.start("migrate", "demo", "--watch", "--bandwidth", bandwidth);
  await moving.untilSaid(/copying/);
  return moving;
}

test("a second move and a stop are refused meanwhile, and --abort leaves the guest where it was", async () => {
  const before = host.podUids();
  // Nobody waits for its end, and on a busy host four commands take long.
  const moving = await slowMove("1Mi");
  expect((await host.state()).state).toBe("Migrating");
  expect((await host.virtkit("migrate", "demo")).err).toContain("is being moved");
  expect((await host.virtkit("stop", "demo")).err).toContain("--abort demo");
  const aborted = await host.virtkit("migrate", "demo", "--abort");
  expect(aborted.err).toContain("still runs where it was");
  expect(aborted.code).toBe(0);
  expect((await moving.end()).code).toBe(1);
  expect(host.podUids()).toEqual(before);
  await expectOnlyGuest(before);
});

test("the next command settles what a killed virtkit leaves", async () => {
  for (const command of [["ps"], ["migrate", "demo", "--abort"]]) {
    const before = host.podUids();
    const moving = await slowMove("8M");
    moving.child.kill("SIGKILL");
    await moving.end();
    const folders = host.podFolders();
    expect(folders).toHaveLength(2);
    const { code } = await host.virtkit(...command);
    expect(code).toBe(0);
    expect(host.podUids()).not.toEqual(command[0] === "ps" ? before : []);
    await expectOnlyGuest([...before, ...folders]);
  }
});

/** Makes the guest rewrite this many MiB forever. */
async function dirty(mebibytes: number): Promise<void> {
  const record = await readRecord(host.directory, "default", "demo");
  if (!record) throw new Error("there is no demo");
  await using guest = await connectVmi(host.directory, record);
  const script = `setsid dirty ${mebibytes} >/dev/null 2>&1 &`;
  await guest.exec({ command: "/bin/sh", args: ["-c", script], timeoutSeconds: 60 });
}

/** Whether QEMU, as an unprivileged user, may fetch memory of a running guest. */
const userfaultfd = "/proc/sys/vm/unprivileged_userfaultfd";
const wasAllowed = readFileSync(userfaultfd, "utf8");
afterAll(() => writeFileSync(userfaultfd, wasAllowed));

test("--dry-run says how a move would go, and moves nothing; --postcopy moves a guest that writes faster than it is sent", async () => {
  const before = host.podUids();
  const quiet = await host.virtkit("migrate", "demo", "--dry-run");
  expect(quiet.out).toMatch(/demo can move: in about [\d.]+ s, with a downtime of about \d+ ms/);
  expect(quiet.out).toMatch(
    /to send: [\d.]+ MB of [\d.]+ MB memory.*\n.*the link carries [\d.]+ MB/,
  );
  expect(quiet.code).toBe(0);
  await dirty(24);
  const busy = await host.virtkit("migrate", "demo", "--dry-run", "--bandwidth", "2M");
  expect(busy.out).toContain("would not converge");
  expect(busy.out).toContain("the link carries 2.0 MB/s");
  expect(busy.code).toBe(1);
  const postCopy = ["migrate", "demo", "--postcopy", "--bandwidth", "12M"];
  writeFileSync(userfaultfd, "0");
  for (const how of [postCopy, [...postCopy, "--dry-run"]]) {
    const refused = await host.virtkit(...how);
    expect(refused.err).toMatch(/cannot move by post-copy: .*set vm.unprivileged_userfaultfd to 1/);
    expect(refused.code).toBe(1);
  }
  expect(host.podUids()).toEqual(before);
  writeFileSync(userfaultfd, "1");
  const forecast = await host.virtkit(...postCopy, "--dry-run");
  expect(forecast.out).toMatch(/demo can move by post-copy: in about [\d.]+ s/);
  const { code, err } = await host.virtkit(...postCopy);
  expect(err).toMatch(/demo: it moved by post-copy in [\d.]+ s/);
  expect(code).toBe(0);
  expect(host.podUids()).not.toEqual(before);
  await expectOnlyGuest(before);
});

test("a moved guest is stopped and removed like any other", async () => {
  const all = host.podFolders();
  expect((await host.virtkit("stop", "demo")).code).toBe(0);
  expect((await host.virtkit("rm", "demo")).code).toBe(0);
  expect(await host.leftovers(all)).toEqual([]);
  expect(await host.files()).toEqual([]);
});
