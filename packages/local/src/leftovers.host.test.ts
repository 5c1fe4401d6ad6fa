import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createNetworkNamespace } from "@virtkit/host-primitives/namespaces";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import type { Pod } from "@virtkit/launcher-pod";
import { RunClaims } from "@virtkit/node-agent/claims";
import { identityOf } from "@virtkit/node-agent/sandbox";
import { afterEach, beforeEach, expect, test } from "vitest";
import { groupTraces, type PodTraces } from "./group-traces.ts";
import { findLeftovers, removeLeftover } from "./leftovers.ts";
import { createLocalCgroup } from "./local-cgroup.ts";
import { localInventory } from "./local-inventory.ts";
import { localNames } from "./local-names.ts";
import {
  createLocalSandbox,
  isAlive,
  removeLocalSandbox,
  stopLocalSandbox,
} from "./local-sandbox.ts";
import { findLostVmi, isLostVmiRunning, removeLostVmi } from "./lost-vmi.ts";
import { listPodOwners, notePodOwner } from "./pod-owner.ts";
import { removePodTraces } from "./remove-pod-traces.ts";
import { runTool, tryTool } from "./run-tool.ts";
import { agentDirectory } from "./vmi-life.ts";
import { addRecord, listRecords } from "./vmi-record.ts";

const demo = { namespace: "default", name: "demo" };
const limits = { memoryBytes: 256 << 20, pids: 300 };
const pod: Pod = {
  metadata: { name: "virt-launcher-demo", namespace: "default" },
  spec: {
    volumes: [{ name: "public", emptyDir: {} }],
    containers: [
      {
        name: "compute",
        command: ["/usr/bin/virtkit-launcher"],
        resources: {},
        volumeMounts: [{ name: "public", mountPath: "/var/run/kubevirt" }],
      },
    ],
  },
};

let state: string;
let podUid: string;

beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), "virtkit-state-"));
  podUid = randomUUID();
});

afterEach(async () => {
  await removeLocalSandbox(state, podUid);
  await rm(state, { recursive: true, force: true });
});

/** A VMI with a stand-in for its launcher, which runs and has claimed its guest. */
async function startStandIn(): Promise<string> {
  using self = ProcessHandle.open(process.pid);
  await addRecord(state, {
    ...demo,
    version: 1,
    podUid,
    createdAt: new Date().toISOString(),
    vmi: { metadata: { ...demo, uid: "vmi" }, spec: { domain: { devices: {} } } },
    accel: "tcg",
    published: [],
    starter: identityOf(self),
  });
  const launcher = fileURLToPath(new URL("./testing/stand-in.mjs", import.meta.url));
  const made = { stateDirectory: state, pod, podUid, vmi: demo, launcher, limits };
  const { pid } = await createLocalSandbox(made);
  using first = ProcessHandle.open(pid);
  const claims = new RunClaims(agentDirectory(state));
  await claims.claim({ ...demo, uid: "vmi" }, { podUid, process: first });
  return join(state, "vmis/default_demo.json");
}

async function leftover(): Promise<PodTraces | undefined> {
  const { ownerless } = await findLeftovers(state);
  return ownerless.find((each) => each.podUid === podUid);
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("nothing was found");
  return value;
}

async function expectNothing(): Promise<void> {
  const names = localNames(state, podUid);
  expect(isAlive(state, podUid)).toBe(false);
  expect(existsSync(names.directory)).toBe(false);
  expect(existsSync(`/run/netns/${names.networkNamespace}`)).toBe(false);
  expect(existsSync(`/sys/class/net/${names.hostLink}`)).toBe(false);
  expect((await tryTool("nft", ["list", "table", "inet", names.nftTable])).code).toBe(1);
  const { traces } = await localInventory(state);
  expect(traces.filter((trace) => trace.podUid === podUid || trace.vmiUid === "vmi")).toEqual([]);
}

/** Ways to lose a record while its guest runs. */
const damages: readonly [string, (file: string) => Promise<unknown>][] = [
  ["truncated", async (file) => writeFile(file, (await readFile(file, "utf8")).slice(0, 40))],
  ["of another version", async (file) => writeFile(file, '{"version":2}')],
  ["empty", (file) => writeFile(file, "")],
  ["a directory", async (file) => rm(file).then(() => mkdir(file))],
  ["of 10 MB", (file) => writeFile(file, Buffer.alloc(10_000_000, "x"))],
  ["gone", (file) => rm(file)],
];

test("finds a guest without a record by name, keeps it until it is removed by name, and then leaves nothing", async () => {
  const file = await startStandIn();
  const text = await readFile(file, "utf8");
  for (const [how, damage] of damages) {
    await rm(file, { recursive: true, force: true });
    await writeFile(file, text);
    await damage(file);
    const lost = await findLostVmi(state, demo);
    expect(
      lost?.pods.map((each) => each.podUid),
      how,
    ).toEqual([podUid]);
    expect(lost && isLostVmiRunning(lost), how).toBe(true);
    // Only a missing record leaves a Pod without an owner, and even then a running one is not
    // ended.
    const found = await leftover();
    expect(found === undefined, how).toBe(how !== "gone");
    if (found) await expect(removeLeftover(state, found)).rejects.toThrow("virtkit stop demo");
    expect(isAlive(state, podUid), how).toBe(true);
  }
  await writeFile(file, "garbled");
  await removeLostVmi(state, present(await findLostVmi(state, demo)));
  await expectNothing();
  expect(await listRecords(state)).toEqual({ records: [], unreadable: [] });
});

test("keeps a running Pod beside a garbled record, even without a claim or note that names it", async () => {
  const file = await startStandIn();
  await writeFile(file, "garbled");
  await rm(join(agentDirectory(state), "claims"), { recursive: true });
  notePodOwner({ podUid, stateDirectory: state });
  const lost = present(await findLostVmi(state, demo));
  expect(lost).toMatchObject({ pods: [], doubtful: [{ podUid }] });
  await expect(removeLostVmi(state, lost)).rejects.toThrow(`virtkit stop ${podUid}`);
  expect(await leftover()).toBeUndefined();
  const byUid = await findLostVmi(state, { namespace: "default", name: podUid });
  expect(byUid?.pods.map((each) => each.podUid)).toEqual([podUid]);
  expect(isAlive(state, podUid)).toBe(true);
});

test("records that cannot be listed end no guest; treating them as absent would", async () => {
  await startStandIn();
  const vmis = join(state, "vmis");
  await rename(vmis, join(state, "moved"));
  const whileGone = present(await leftover());
  expect(whileGone.running).toBe("yes");
  await writeFile(vmis, "in the way");
  expect(await leftover()).toBeUndefined();
  const forced = removeLeftover(state, whileGone, { force: true });
  await expect(forced).rejects.toMatchObject({ code: "AGENT_CLAIM_HELD" });
  expect(isAlive(state, podUid)).toBe(true);
  // The control: the same look, by someone who takes "not seen" for "gone".
  const blind = await localInventory(state);
  const naive = groupTraces({ ...blind, records: { records: [], unreadable: [] } });
  const [victim] = naive.filter((each) => each.podUid === podUid && each.owner.by === "nobody");
  await removePodTraces(state, present(victim));
  expect(isAlive(state, podUid)).toBe(false);
});

/** One of everything that a Pod has, without a process. */
async function plantLeftovers(): Promise<void> {
  const names = localNames(state, podUid);
  createLocalCgroup(names.cgroup, limits);
  (await createNetworkNamespace(names.networkNamespace)).close();
  await runTool("ip", [
    "link",
    "add",
    names.hostLink,
    "type",
    "veth",
    "peer",
    "name",
    `${names.hostLink}p`.slice(-15),
  ]);
  await runTool("nft", ["add", "table", "inet", names.nftTable]);
}

async function plantFiles(): Promise<void> {
  const names = localNames(state, podUid);
  const agent = agentDirectory(state);
  const bootId = "another boot";
  const identity = {
    version: 1,
    podUid,
    vmiUid: "vmi",
    process: { pid: 1, startTime: "1", bootId },
  };
  const files = {
    [join(names.directory, "launcher.log")]: "",
    [join(state, "networks/9")]: podUid,
    [join(agent, "traces/vmi.jsonl")]: "",
    [join(agent, "claims/default_demo/3.json")]: JSON.stringify({ ...identity, epoch: 3 }),
    [join(agent, "pods", podUid, "pod.json")]: JSON.stringify({ ...identity, network: "net:[1]" }),
  };
  for (const [file, text] of Object.entries(files)) {
    await mkdir(join(file, ".."), { recursive: true });
    await writeFile(file, text);
  }
}

test("removes leftovers of every kind, and can be repeated", async () => {
  await plantLeftovers();
  await plantFiles();
  notePodOwner({ podUid, stateDirectory: state, ...demo });
  const found = present(await leftover());
  expect(new Set(found.traces.map(({ kind }) => kind)).size).toBe(10);
  expect(await removeLeftover(state, found)).toBe(true);
  await expectNothing();
  expect(await removeLeftover(state, found)).toBe(false);
});

test("keeps what another state directory owns, or whose owner is unknown", async () => {
  await plantLeftovers();
  const kept = async (): Promise<PodTraces | undefined> =>
    (await findLeftovers(state)).kept.find((each) => each.podUid === podUid);
  expect((await kept())?.owner).toMatchObject({ by: "unknown" });
  await plantFiles();
  const mine = present(await leftover());
  notePodOwner({ podUid, stateDirectory: tmpdir() });
  expect((await kept())?.owner).toMatchObject({ by: "other-directory" });
  await expect(removeLeftover(state, mine, { force: true })).rejects.toThrow("has an owner now");
  expect(existsSync(`/run/netns/${localNames(state, podUid).networkNamespace}`)).toBe(true);
});

test("ends a running guest without an owner only by force", async () => {
  const file = await startStandIn();
  await rm(file);
  const found = present(await leftover());
  expect(found).toMatchObject({ running: "yes", vmi: demo });
  await removeLeftover(state, found, { force: true });
  await expectNothing();
});

test("several concurrent stops of one Pod all succeed", async () => {
  await startStandIn();
  await Promise.all([1, 2, 3, 4].map(() => stopLocalSandbox(state, podUid)));
  expect(isAlive(state, podUid)).toBe(false);
  expect((await listPodOwners()).map((owner) => owner.podUid)).not.toContain(podUid);
});
