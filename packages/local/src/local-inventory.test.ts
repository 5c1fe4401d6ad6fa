import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { groupTraces, type PodTraces } from "./group-traces.ts";
import type { HostView } from "./host-view.ts";
import { findLeftovers, removeLeftover } from "./leftovers.ts";
import { localInventory } from "./local-inventory.ts";

const podUid = "5b0c7c1a-6f3e-4a59-9d0a-2f6c1f7f0b11";

const emptyHost: HostView = {
  networkNamespaces: async () => [],
  links: async () => [],
  tables: async () => [],
  cgroups: async () => [],
  processes: () => 0,
  owners: async () => [],
};

let state: string;

beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), "virtkit-state-"));
  onTestFinished(() => rm(state, { recursive: true, force: true }));
});

async function put(path: string, text: string): Promise<void> {
  await mkdir(join(state, path, ".."), { recursive: true });
  await writeFile(join(state, path), text);
}

const claim = {
  version: 1,
  vmiUid: "vmi",
  podUid,
  epoch: 1,
  process: { pid: 1, startTime: "1", bootId: "another boot" },
};

test("finds every kind of trace and assigns it to its Pod", async () => {
  await put(`pods/${podUid}/launcher.log`, "");
  await put(`agent/pods/${podUid}/steps.journal`, "");
  await put("agent/traces/vmi.jsonl", "");
  await put("agent/claims/default_demo/1.json", JSON.stringify(claim));
  await put("networks/7", podUid);
  const host: HostView = {
    ...emptyHost,
    networkNamespaces: async () => ["virtkit-5b0c7c1a6f3", "docker0"],
    links: async () => ["vk5b0c7c1a6f3", "eth0"],
    tables: async () => ["virtkit_5b0c7c1a6f3", "filter"],
    cgroups: async () => [podUid],
    owners: async () => [{ podUid, file: "note", owner: { podUid, stateDirectory: state } }],
  };
  const [pod, ...more] = groupTraces(await localInventory(state, host));
  expect(more).toEqual([]);
  expect(pod).toMatchObject({ podUid, vmi: { name: "demo" }, owner: { by: "nobody" } });
  expect(pod?.traces.map(({ kind }) => kind).sort()).toEqual([
    ...["Pod directory", "addresses", "cgroup", "claim", "journal", "link"],
    ...["network namespace", "nftables table", "owner note", "trace"],
  ]);
});

test("reports a place that cannot be examined, and finds the rest", async () => {
  await put("pods", "not a directory");
  await put("agent/claims/default_demo/1.json", "{");
  await put("agent/traces/vmi.jsonl", "");
  const host = { ...emptyHost, tables: () => Promise.reject(new Error("no nft")) };
  const { traces, unseen } = await localInventory(state, host);
  expect(unseen.map(({ place }) => place)).toEqual([
    "nftables tables",
    join(state, "pods"),
    join(state, "agent/claims/default_demo"),
  ]);
  expect(traces.map(({ kind }) => kind)).toEqual(["trace"]);
});

test("the records of a missing state directory are unknown, not absent", async () => {
  expect((await localInventory(join(state, "unmounted"), emptyHost)).records).toBeUndefined();
  expect((await localInventory(state, emptyHost)).records).toEqual({ records: [], unreadable: [] });
});

test("keeps a leftover that has got an owner since it was listed", async () => {
  await put("agent/traces/vmi.jsonl", "");
  const { ownerless } = await findLeftovers(state, emptyHost);
  expect(ownerless).toHaveLength(1);
  const [leftover] = ownerless as [PodTraces];
  await put("vmis/default_demo.json", "");
  await expect(removeLeftover(state, leftover, { host: emptyHost })).rejects.toMatchObject({
    code: "AGENT_CLAIM_HELD",
  });
  await rm(join(state, "vmis"), { recursive: true });
  expect(await removeLeftover(state, leftover, { host: emptyHost })).toBe(true);
  expect(await removeLeftover(state, leftover, { host: emptyHost })).toBe(false);
});
