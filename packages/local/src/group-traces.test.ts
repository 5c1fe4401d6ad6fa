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

test("what the kernel names by part of a UID, and traces of a VMI, belong to the Pod that is meant", () => {
  const pod = only(seen([netns, trace, claim, cgroup(0), directory]));
  expect(pod).toMatchObject({ podUid, vmi: demo, vmiUid: "vmi", running: "no" });
  expect(pod.traces).toHaveLength(5);
});

test.each<[string, LocalInventory, string]>([
  [
    "that a record names is its",
    seen([cgroup(3), directory], { records: { records: [record(podUid)], unreadable: [] } }),
    "record",
  ],
  [
    "whose claim's name has an unreadable record is its",
    seen([cgroup(3), claim], { records: { records: [], unreadable: [garbled] } }),
    "unreadable-record",
  ],
  [
    "that an unreadable record still names is its",
    seen([directory], { records: { records: [], unreadable: [{ ...garbled, podUid }] } }),
    "unreadable-record",
  ],
  [
    "that another state directory made is that one's",
    seen([cgroup(0), netns], { owners: [note("/elsewhere")] }),
    "other-directory",
  ],
  [
    "that another state directory made is that one's, whatever files lie here",
    seen([cgroup(3), directory, claim], { owners: [note("/elsewhere")] }),
    "other-directory",
  ],
  ["of which only the kernel knows may be anybody's", seen([cgroup(0), netns]), "unknown"],
  [
    "whose owner's note cannot be read may be anybody's",
    seen([directory], { owners: [note(undefined)] }),
    "unknown",
  ],
  [
    "beside an unreadable record that names none may be that one's",
    seen([directory], { records: { records: [], unreadable: [garbled] } }),
    "unknown",
  ],
  [
    "of a state directory whose records cannot be listed may have one",
    seen([cgroup(3), directory], { records: undefined, owners: [note(stateDirectory)] }),
    "unknown",
  ],
  [
    "that runs, with nothing but files to say that it is from here, may be a copy's",
    seen([cgroup(3), directory, claim]),
    "unknown",
  ],
  [
    "of which cannot be told whether it runs stays",
    seen([cgroup(undefined), directory], { owners: [note(stateDirectory)] }),
    "unknown",
  ],
  [
    "whose cgroup could not be looked for stays",
    seen([directory], { unseen: [{ place: "cgroups", problem: "EIO" }] }),
    "unknown",
  ],
  ["that no trace names stays", seen([lease]), "unknown"],
  ["that ended, with files here and no record, is nobody's", seen([directory, netns]), "nobody"],
  [
    "whose name has a record of another Pod is nobody's",
    seen([directory, claim], { records: { records: [record("other")], unreadable: [] } }),
    "nobody",
  ],
  [
    "that runs, is from here and has no record is nobody's",
    seen([cgroup(3), netns], { owners: [note(stateDirectory)] }),
    "nobody",
  ],
  ["that is a trace alone, with no record, is nobody's", seen([trace]), "nobody"],
])("a Pod %s", (_, inventory, by) => {
  expect(only(inventory).owner.by).toBe(by);
});

test("a trace alone stays while a record cannot be read: it may be that one's", () => {
  const records = { records: [], unreadable: [{ ...garbled, podUid }] };
  expect(only(seen([trace], { records })).owner.by).toBe("unknown");
});

test("control: whoever takes what was not seen for gone calls a running guest ownerless", () => {
  const blind = seen([cgroup(3), netns], { records: undefined, owners: [note(stateDirectory)] });
  const naive = { ...blind, records: { records: [], unreadable: [] } };
  expect(only(naive).owner.by).toBe("nobody");
  expect(only(blind).owner.by).toBe("unknown");
});
