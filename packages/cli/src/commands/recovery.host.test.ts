import { randomUUID } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { guestDisk, runProgram } from "@virtkit/lab";
import { addRecord, isAlive, localNames } from "@virtkit/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Run } from "../testing/run-virtkit.ts";
import { VirtkitProcess } from "../testing/virtkit-process.ts";

const image = "registry.example/virtkit/demo:latest";
const manifest = fileURLToPath(new URL("../../../../examples/vms/demo.yaml", import.meta.url));

let folder: string;
/** A small separate file system, so that it can be filled. */
let state: string;
let record: string;
let disk: string;

const virtkit = async (...args: string[]): Promise<Run> =>
  await new VirtkitProcess(args, { VIRTKIT_STATE_DIR: state }).end();

async function startGuest(): Promise<string> {
  const run = ["run", "-f", manifest, "--image", `${image}=${disk}`];
  const { code, err } = await virtkit(...run, "--detach", "--wait", "agent-connected");
  expect({ code, err }).toMatchObject({ code: 0 });
  return (JSON.parse(await readFile(record, "utf8")) as { podUid: string }).podUid;
}

function expectNothingOf(podUid: string): void {
  const names = localNames(state, podUid);
  expect(isAlive(state, podUid)).toBe(false);
  expect(existsSync(`/run/netns/${names.networkNamespace}`)).toBe(false);
  expect(readdirSync("/sys/class/net")).not.toContain(names.hostLink);
  expect(existsSync(`/run/virtkit/pods/${podUid}.json`)).toBe(false);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "virtkit-recovery-"));
  state = join(folder, "state");
  record = join(state, "vmis/default_demo.json");
  await mkdir(state);
  await runProgram("mount", ["-t", "tmpfs", "-o", "size=192m,mode=755", "none", state]);
  disk = await guestDisk();
});

afterAll(async () => {
  await virtkit("rm", "--force", "demo");
  await runProgram("umount", [state]);
  await rm(folder, { recursive: true, force: true });
});

test("a garbled record hides no other VMI, and its guest is found, kept and stopped by name", async () => {
  const podUid = await startGuest();
  const text = await readFile(record, "utf8");
  const { starter, vmi } = JSON.parse(text);
  await addRecord(state, {
    version: 1,
    namespace: "default",
    name: "other",
    podUid: randomUUID(),
    createdAt: "2026-01-01T00:00:00Z",
    vmi,
    accel: "tcg",
    published: [],
    starter,
  });
  await writeFile(record, text.slice(0, 30));
  const { code, out, err } = await virtkit("ps");
  expect(code).toBe(0);
  expect(out).toMatch(/^other +\w+/m);
  expect(out).toMatch(/^demo +Unreadable/m);
  expect(err).toContain(record);
  expect(err).toMatch(/virtkit stop demo, then: virtkit rm demo/);
  const rows = JSON.parse((await virtkit("ps", "-o", "json")).out) as object[];
  expect(rows).toContainEqual(expect.objectContaining({ name: "demo", state: "Unreadable" }));
  expect(await virtkit("rm", "demo")).toMatchObject({
    code: 2,
    err: expect.stringMatching(/virtkit stop demo, or: virtkit rm --force demo/),
  });
  expect(await virtkit("run", "-f", manifest, "--image", `${image}=${disk}`)).toMatchObject({
    code: 1,
    err: expect.stringContaining("virtkit stop demo"),
  });
  expect((await virtkit("doctor", "--clean", "--force")).out).not.toContain("Removed");
  expect(isAlive(state, podUid)).toBe(true);
  expect(await virtkit("stop", "demo")).toMatchObject({ code: 0 });
  expectNothingOf(podUid);
  expect(await virtkit("rm", "demo")).toMatchObject({ code: 0 });
  expect(await virtkit("rm", "other")).toMatchObject({ code: 0 });
  expect((await runProgram("find", [state, "-type", "f"])).trim()).toBe("");
});

test("a guest whose record is gone is listed, and doctor ends it only with --force", async () => {
  const podUid = await startGuest();
  await rm(record);
  expect((await virtkit("ps")).out).toMatch(/^demo +Unrecorded/m);
  expect(await virtkit("doctor", "--clean")).toMatchObject({
    code: 1,
    err: expect.stringContaining("virtkit stop demo, or: virtkit doctor --clean --force"),
  });
  expect(isAlive(state, podUid)).toBe(true);
  const { code, out } = await virtkit("doctor", "--clean", "--force");
  expect(code).toBe(0);
  expect(out).toMatch(
    /demo {2}\(runs; nobody owns it\)[\s\S]*network namespace[\s\S]*Removed demo\./,
  );
  expectNothingOf(podUid);
  expect((await runProgram("find", [state, "-type", "f"])).trim()).toBe("");
});

test("four stops of one guest at once all succeed", async () => {
  const podUid = await startGuest();
  const stops = await Promise.all([1, 2, 3, 4].map(() => virtkit("stop", "demo")));
  expect(stops.filter(({ code }) => code !== 0)).toEqual([]);
  expectNothingOf(podUid);
  expect(await virtkit("rm", "demo")).toMatchObject({ code: 0 });
});

/** Fills all space of the state directory, including what others free, until it is disposed of. */
async function keepFull(): Promise<AsyncDisposable> {
  const file = await open(join(state, "filler"), "w");
  const block = Buffer.alloc(1 << 20);
  const fill = async (): Promise<never> => {
    for (;;) await file.write(block);
  };
  await expect(fill()).rejects.toMatchObject({ code: "ENOSPC" });
  const over = new AbortController();
  const filling = (async () => {
    while (!over.signal.aborted) {
      await fill().catch(() => undefined);
      await sleep(1);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      over.abort();
      await filling;
      await file.close();
      await rm(join(state, "filler"));
    },
  };
}

test("a guest is stopped and removed while the disk stays full; rm refuses it before", async () => {
  const podUid = await startGuest();
  await using _ = await keepFull();
  await expect(writeFile(join(state, "more"), "more")).rejects.toThrow("ENOSPC");
  expect(await virtkit("rm", "demo")).toMatchObject({
    code: 2,
    err: expect.stringContaining("virtkit rm --force demo"),
  });
  expect(await virtkit("stop", "demo")).toMatchObject({ code: 0 });
  expectNothingOf(podUid);
  expect(await virtkit("rm", "demo")).toMatchObject({ code: 0 });
  expect(existsSync(record)).toBe(false);
});
