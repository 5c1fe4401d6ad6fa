import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import { identityOf } from "@virtkit/node-agent/sandbox";
import { expect, onTestFinished, test } from "vitest";
import {
  addRecord,
  isOwnStart,
  listRecords,
  readRecord,
  removeRecord,
  type VmiRecord,
} from "./vmi-record.ts";

/** A UUID that ends with this digit. */
function uid(digit: number): string {
  return `0d4c4a52-0001-4000-8000-00000000000${digit}`;
}

function record(name: string, podUid = uid(0)): VmiRecord {
  const vmi = { metadata: { name, uid: "vmi" }, spec: { domain: { devices: {} } } };
  const createdAt = "2026-01-01T00:00:00Z";
  return {
    version: 1,
    namespace: "default",
    name,
    podUid,
    createdAt,
    vmi,
    accel: "tcg",
    published: [],
    starter: { pid: 1, startTime: "1", bootId: "boot" },
  };
}

async function stateDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "virtkit-state-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

test("one of many who take a name at once gets it", async () => {
  const state = await stateDirectory();
  const uids = [1, 2, 3, 4, 5].map(uid);
  const taken = await Promise.all(uids.map((each) => addRecord(state, record("demo", each))));
  expect(taken.filter(Boolean)).toHaveLength(1);
  const kept = await readRecord(state, "default", "demo");
  expect(taken[uids.indexOf(kept?.podUid ?? "")]).toBe(true);
  expect(await readdir(join(state, "vmis"))).toEqual(["default_demo.json"]);
});

test("lists records by name, and not once they are removed", async () => {
  const state = await stateDirectory();
  expect(await listRecords(state)).toEqual({ records: [], unreadable: [] });
  await addRecord(state, record("two"));
  await addRecord(state, record("one"));
  const { records } = await listRecords(state);
  expect(records.map(({ name }) => name)).toEqual(["one", "two"]);
  await removeRecord(state, record("one"));
  await removeRecord(state, record("one"));
  expect(await readRecord(state, "default", "one")).toBeUndefined();
});

test("a newer VMI with the name keeps its record", async () => {
  const state = await stateDirectory();
  await addRecord(state, record("demo", uid(2)));
  await removeRecord(state, record("demo", uid(1)));
  expect(await readRecord(state, "default", "demo")).toMatchObject({ podUid: uid(2) });
});

test("what another process started does not belong to this one", () => {
  using self = ProcessHandle.open(process.pid);
  const own = { ...record("demo"), starter: identityOf(self) };
  expect(isOwnStart(own)).toBe(true);
  expect(isOwnStart(record("demo"))).toBe(false);
});

test.each(["../x", "", "A", "a/b", "."])("rejects %j as a name", async (name) => {
  await expect(readRecord("/nowhere", "default", name)).rejects.toMatchObject({
    code: "AGENT_ARGUMENT",
  });
});

test("removes what a killed writer left, but not what a living one writes", async () => {
  const state = await stateDirectory();
  await addRecord(state, record("demo"));
  const folder = join(state, "vmis");
  await writeFile(join(folder, `default_a.json.4194305.${uid(1)}`), "{");
  await writeFile(join(folder, `default_b.json.${process.pid}.${uid(1)}`), "{");
  await removeRecord(state, record("demo"));
  expect(await readdir(folder)).toEqual([`default_b.json.${process.pid}.${uid(1)}`]);
});
