import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { addRecord, listRecords, readRecord, type VmiRecord } from "./vmi-record.ts";

const podUid = "5b0c7c1a-6f3e-4a59-9d0a-2f6c1f7f0b11";

function record(name: string): VmiRecord {
  return {
    version: 1,
    namespace: "default",
    name,
    podUid,
    createdAt: "2026-01-01T00:00:00Z",
    vmi: { metadata: { name, uid: "vmi" }, spec: { domain: { devices: {} } } },
    accel: "tcg",
    published: [],
    starter: { pid: 1, startTime: "1", bootId: "boot" },
  };
}

const text = JSON.stringify(record("demo"));

/** A record with an invalid field. */
function odd(change: Readonly<Record<string, unknown>>): (file: string) => Promise<void> {
  return (file) => writeFile(file, JSON.stringify({ ...record("demo"), ...change }));
}

const { metadata, spec } = record("demo").vmi;

/** What may be in a record's place, and whether it still names its Pod. */
const garbled: readonly [string, (file: string) => unknown, string | undefined][] = [
  ["truncated", (file) => writeFile(file, text.slice(0, 150)), podUid],
  ["empty", (file) => writeFile(file, ""), undefined],
  ["of another version", (file) => writeFile(file, text.replace(/:1,/, ":2,")), podUid],
  ["of another name", (file) => writeFile(file, JSON.stringify(record("x"))), podUid],
  ["null", (file) => writeFile(file, "null"), undefined],
  ["without a field", (file) => writeFile(file, text.replace("published", "unpublished")), podUid],
  ["without a Pod", odd({ podUid: "../x" }), undefined],
  ["without a time", odd({ createdAt: "soon" }), podUid],
  ["without a VMI", odd({ vmi: { metadata, spec: null } }), podUid],
  ["of a VMI without a UID", odd({ vmi: { metadata: {}, spec } }), podUid],
  [
    "of a VMI with malformed volumes",
    odd({ vmi: { metadata, spec: { ...spec, volumes: 5 } } }),
    podUid,
  ],
  ["of an unknown accelerator", odd({ accel: 5 }), podUid],
  ["with a malformed port", odd({ published: [null] }), podUid],
  ["of 10 MB", (file) => writeFile(file, Buffer.alloc(10_000_000, " ")), undefined],
  ["a directory", (file) => mkdir(file), undefined],
  ["a link", (file) => symlink("/dev/zero", file), undefined],
  ["a pipe", (file) => execFileSync("mkfifo", [file]), undefined],
];

test.each(garbled)(
  "names a record that is %s, and still lists the others",
  async (_, put, namedPod) => {
    const state = await mkdtemp(join(tmpdir(), "virtkit-state-"));
    onTestFinished(() => rm(state, { recursive: true, force: true }));
    await addRecord(state, record("before"));
    await addRecord(state, record("z-after"));
    const file = join(state, "vmis/default_demo.json");
    await put(file);
    const found = await listRecords(state);
    expect(found.records.map(({ name }) => name)).toEqual(["before", "z-after"]);
    expect(found.unreadable).toMatchObject([{ namespace: "default", name: "demo", file }]);
    expect(found.unreadable[0]?.podUid).toBe(namedPod);
    await expect(readRecord(state, "default", "demo")).rejects.toMatchObject({
      code: "AGENT_JOURNAL",
      message: expect.stringMatching(/default_demo\.json .*virtkit stop demo.*virtkit rm demo/),
    });
  },
);

test("a directory of records that cannot be listed does not count as empty", async () => {
  const state = await mkdtemp(join(tmpdir(), "virtkit-state-"));
  onTestFinished(() => rm(state, { recursive: true, force: true }));
  await writeFile(join(state, "vmis"), "");
  await expect(listRecords(state)).rejects.toMatchObject({ code: "AGENT_JOURNAL" });
});
