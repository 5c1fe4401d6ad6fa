import { expect, test } from "vitest";
import { groupTraces, type PodTraces } from "./group-traces.ts";
import type { LocalInventory, LocalTrace } from "./local-inventory.ts";
import type { VmiRecord } from "./vmi-record.ts";

const podUid = "5b0c7c1a-6f3e-4a59-9d0a-2f6c1f7f0b11";
const shortUid = "5b0c7c1a6f3";
const stateDirectory = "/state";
const demo = { namespace: "default", name: "demo" };
const file = "/state/vmis/default_demo.json";
const garbled = { ...demo, file, problem: "it is empty" };

const record = (uid: string): VmiRecord => ({
  ...demo,
  version: 1,
  podUid: uid,
  createdAt: "2026-01-01T00:00:00Z",
  vmi: { metadata: { uid: "vmi" }, spec: { domain: { devices: {} } } },
  accel: "tcg",
  published: [],
  starter: { pid: 1, startTime: "1", bootId: "boot" },
});

const cgroup = (processes: number | undefined): LocalTrace => ({
  kind: "cgroup",
  place: `virtkit/${podUid}`,
  podUid,
  processes,
});
const directory: LocalTrace = { kind: "Pod directory", place: `/state/pods/${podUid}`, podUid };
const netns: LocalTrace = { kind: "network namespace", place: `virtkit-${shortUid}`, shortUid };
const claim: LocalTrace = {
  kind: "claim",
  place: "/state/agent/claims/default_demo/1.json",
  podUid,
  vmiUid: "vmi",
  vmi: demo,
};
const trace: LocalTrace = { kind: "trace", place: "/state/agent/traces/vmi.jsonl", vmiUid: "vmi" };
const lease: LocalTrace = { kind: "addresses", place: "/state/networks/0" };
const note = (from: string | undefined): LocalInventory["owners"][number] => ({
  podUid,
  file: `/run/virtkit/pods/${podUid}.json`,
  ...(from === undefined ? {} : { owner: { podUid, stateDirectory: from } }),
});

function seen(traces: readonly LocalTrace[], rest: Partial<LocalInventory> = {}): LocalInventory {
  const records = { records: [], unreadable: [] };
  return { stateDirectory, records, traces, owners: [], unseen: [], ...rest };
}

function only(inventory: LocalInventory): PodTraces {
  const groups = groupTraces(inventory);
  expect(groups).toHaveLength(1);
  return groups[0] as PodTraces;
}

test("assigns kernel names with part of a UID, and traces of a VMI, to the right Pod", () => {
  const pod = only(seen([netns, trace, claim, cgroup(0), directory]));
  expect(pod).toMatchObject({ podUid, vmi: demo, vmiUid: "vmi", running: "no" });
  expect(pod.traces).toHaveLength(5);
});

test.each<[string, LocalInventory, string]>([
  [
    "that a record names belongs to that record",
    seen([cgroup(3), directory], { records: { records: [record(podUid)], unreadable: [] } }),
    "record",
  ],
  [
    "whose claim has the name of an unreadable record belongs to that record",
    seen([cgroup(3), claim], { records: { records: [], unreadable: [garbled] } }),
    "unreadable-record",
  ],
  [
    "that an unreadable record still names belongs to that record",
    seen([directory], { records: { records: [], unreadable: [{ ...garbled, podUid }] } }),
    "unreadable-record",
  ],
  [
    "that another state directory created belongs to that directory",
    seen([cgroup(0), netns], { owners: [note("/elsewhere")] }),
    "other-directory",
  ],
  [
    "that another state directory created belongs to that directory, whatever files are here",
    seen([cgroup(3), directory, claim], { owners: [note("/elsewhere")] }),
    "other-directory",
  ],
  ["that only the kernel knows about may belong to anyone", seen([cgroup(0), netns]), "unknown"],
  [
    "whose owner's note cannot be read may belong to anyone",
    seen([directory], { owners: [note(undefined)] }),
    "unknown",
  ],
  [
    "may belong to an unreadable record that names no Pod",
    seen([directory], { records: { records: [], unreadable: [garbled] } }),
    "unknown",
  ],
  [
    "may have a record if the records of its state directory cannot be listed",
    seen([cgroup(3), directory], { records: undefined, owners: [note(stateDirectory)] }),
    "unknown",
  ],
  [
    "that runs may belong to a copy of this directory if only files point here",
    seen([cgroup(3), directory, claim]),
    "unknown",
  ],
  [
    "stays if it may still be running",
    seen([cgroup(undefined), directory], { owners: [note(stateDirectory)] }),
    "unknown",
  ],
  [
    "stays if its cgroup could not be looked up",
    seen([directory], { unseen: [{ place: "cgroups", problem: "EIO" }] }),
    "unknown",
  ],
  ["stays if no trace names it", seen([lease]), "unknown"],
  [
    "that ended, with files here and no record, belongs to nobody",
    seen([directory, netns]),
    "nobody",
  ],
  [
    "belongs to nobody if the record of its name is for another Pod",
    seen([directory, claim], { records: { records: [record("other")], unreadable: [] } }),
    "nobody",
  ],
  [
    "that runs, is from here and has no record belongs to nobody",
    seen([cgroup(3), netns], { owners: [note(stateDirectory)] }),
    "nobody",
  ],
  ["of which only a trace is left, with no record, belongs to nobody", seen([trace]), "nobody"],
])("a Pod %s", (_, inventory, by) => {
  expect(only(inventory).owner.by).toBe(by);
});

test("keeps a lone trace while a record is unreadable: it may belong to it", () => {
  const records = { records: [], unreadable: [{ ...garbled, podUid }] };
  expect(only(seen([trace], { records })).owner.by).toBe("unknown");
});

test("control: taking unseen traces for gone ones makes a running guest ownerless", () => {
  const blind = seen([cgroup(3), netns], { records: undefined, owners: [note(stateDirectory)] });
  const naive = { ...blind, records: { records: [], unreadable: [] } };
  expect(only(naive).owner.by).toBe("nobody");
  expect(only(blind).owner.by).toBe("unknown");
});
