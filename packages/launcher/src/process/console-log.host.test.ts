import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import {
  commandOf,
  createSurroundings,
  descendants,
  type LauncherProcess,
  type Surroundings,
  syncRequest,
  until,
  vmiOf,
} from "../testing/launcher-fixture.ts";
import { logFileBackups } from "./libvirtd-files.ts";

/** A guest whose only program counts on its console, as fast as it can. */
const counting = "rdinit=/bin/seq -- 1 1000000000";
/**
 * A small file size, so that these tests need not wait for megabytes from an emulated serial port.
 */
const fileBytes = 32 * 1024;
const bound = fileBytes * (1 + logFileBackups);
const patience = { timeout: 100_000 };

let place: Surroundings;

afterEach(async () => await place?.[Symbol.asyncDispose]());

const settings = (file: string): string => `${place.run}/kubevirt-private/libvirt/${file}`;
const logFile = (): string => `${place.run}/kubevirt-private/${vmiOf.uid}/virt-serial0-log`;

/** The log and its backups, oldest first. */
const files = (): string[] =>
  [...Array(10).keys()]
    .reverse()
    .map((number) => `${logFile()}.${number}`)
    .concat(logFile())
    .filter((file) => existsSync(file));

const written = (): number =>
  files().reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);

const last = (text: string): number => Number(/(\d+)\r?\n[^\n]*$/.exec(text)?.[1] ?? 0);

const childOf = (launcher: LauncherProcess, program: string): number | undefined =>
  descendants(launcher.pid).find((pid) => commandOf(pid).includes(program));

async function startFlood(
  prepare: (launcher: LauncherProcess) => Promise<void>,
): Promise<LauncherProcess> {
  place = await createSurroundings();
  const launcher = await place.start();
  const client = await launcher.connect();
  await prepare(launcher);
  await client.syncVmi(syncRequest(counting), patience);
  await client.close();
  return launcher;
}

/** The newest number of the log; between two files there is none for a moment. */
const newest = (): number => (existsSync(logFile()) ? last(readFileSync(logFile(), "latin1")) : 0);

async function untilItGoesOn(): Promise<void> {
  const before = await until("a count", () => newest() || undefined);
  await until("the count goes on", () => newest() > before || undefined);
}

/** Another libvirtd than the one that is killed here. */
async function replaceLibvirtd(launcher: LauncherProcess): Promise<void> {
  const before = childOf(launcher, "sbin/libvirtd");
  if (before !== undefined) process.kill(before, "SIGKILL");
  await until("another libvirtd", () => {
    const now = childOf(launcher, "sbin/libvirtd");
    return now !== undefined && now !== before ? now : undefined;
  });
}

/** The log and its backups, oldest first, at one moment: while nobody writes. */
async function keptFiles(launcher: LauncherProcess): Promise<string[]> {
  const writer = childOf(launcher, "virtlogd");
  if (writer === undefined) throw new Error("there is no virtlogd");
  process.kill(writer, "SIGSTOP");
  await until(
    "virtlogd stands still",
    () => /^State:\s*T/m.test(readFileSync(`/proc/${writer}/status`, "utf8")) || undefined,
  );
  const texts = files().map((file) => readFileSync(file, "latin1"));
  process.kill(writer, "SIGCONT");
  return texts;
}

test("a guest that floods its console fills a fixed number of files, and the newest output is kept", async () => {
  const launcher = await startFlood(async () => {
    const file = settings("virtlogd.conf");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace(/^max_size = .*$/m, `max_size = ${fileBytes}`));
  });
  // Each line has at least three bytes: by then it has written several times the limit.
  await until(
    "a count that needs four times the room",
    () => newest() > (4 * bound) / 3 || undefined,
  );
  const kept = await keptFiles(launcher);
  expect(kept).toHaveLength(1 + logFileBackups);
  // What is read from a pipe at once may go past the end of a file.
  expect(kept.join("").length).toBeLessThan(bound * 1.5);
  const numbers = kept.join("").split("\r\n").slice(1, -1).map(Number);
  expect(numbers.length).toBeGreaterThan(1_000);
  // Not one line is lost between two files.
  expect(numbers.every((number, index) => number === (numbers[0] ?? 0) + index)).toBe(true);
  await untilItGoesOn();
  await replaceLibvirtd(launcher);
  await untilItGoesOn();
  expect((await keptFiles(launcher)).join("").length).toBeLessThan(bound * 1.5);
});

test("control: without virtlogd, the file that QEMU writes has no limit", async () => {
  await startFlood(async (launcher) => {
    const file = settings("qemu.conf");
    writeFileSync(file, readFileSync(file, "utf8").replace('"logd"', '"file"'));
    await replaceLibvirtd(launcher);
  });
  await until("a file beyond the bound", () => written() > bound * 1.5 || undefined);
  expect(files()).toEqual([logFile()]);
});

test("a guest survives the end of its log daemon", async () => {
  const launcher = await startFlood(async () => {});
  await until("a log", () => (existsSync(logFile()) && written() > 0) || undefined);
  const writer = childOf(launcher, "virtlogd");
  if (writer === undefined) throw new Error("there is no virtlogd");
  const guest = childOf(launcher, "qemu-system");
  process.kill(writer, "SIGKILL");
  await until("its end", () => childOf(launcher, "virtlogd") !== writer || undefined);
  // QEMU writes to a pipe that nobody reads, again and again; that must not end it.
  const ticks = (): number => Number(readFileSync(`/proc/${guest}/stat`, "utf8").split(" ")[13]);
  const before = ticks();
  await until("a second of the guest's CPU time", () => ticks() > before + 100 || undefined);
  const client = await launcher.connect();
  expect(await client.status()).toMatchObject({ state: "Running" });
  await client.close();
});
