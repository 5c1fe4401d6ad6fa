import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decide } from "@virtkit/api/grant";
import { MayRun } from "@virtkit/domain-manager";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import { expect, onTestFinished, test } from "vitest";
import { RunClaims } from "./run-claims.ts";

const vmi = { namespace: "default", name: "vm", uid: "vmi-1" };

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "virtkit-claims-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** A process that stands for a sandbox. */
async function sandbox(podUid: string): Promise<{
  readonly podUid: string;
  readonly process: ProcessHandle;
  end(): Promise<void>;
}> {
  const child: ChildProcess = spawn("sleep", ["1000"], { stdio: "ignore" });
  await once(child, "spawn");
  const process = ProcessHandle.open(child.pid ?? 0);
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(async () => {
    await end();
    process.close();
  });
  return { podUid, process, end };
}

test("the first claimant gets the claim, and gets it again", async () => {
  const claims = new RunClaims(directory());
  const first = await sandbox("pod-1");
  const grant = { vmiUid: "vmi-1", podUid: "pod-1", epoch: 1 };
  expect((await claims.claim(vmi, first)).grant).toEqual(grant);
  expect((await claims.claim(vmi, first)).grant).toEqual(grant);
  expect(claims.holder(vmi)).toMatchObject({ ...grant, process: { pid: first.process.pid } });
});

test("while its process runs nobody else gets it, whatever their UID", async () => {
  const claims = new RunClaims(directory());
  const [first, second] = [await sandbox("pod-1"), await sandbox("pod-2")];
  await claims.claim(vmi, first);
  for (const other of [vmi, { ...vmi, uid: "vmi-2" }]) {
    await expect(claims.claim(other, second)).rejects.toMatchObject({
      code: "AGENT_CLAIM_HELD",
      message: expect.stringContaining(`process ${first.process.pid}`),
    });
  }
  expect(() => claims.forget(vmi)).toThrow(expect.objectContaining({ code: "AGENT_CLAIM_HELD" }));
  expect((await claims.claim({ ...vmi, name: "other" }, second)).grant.epoch).toBe(1);
});

test("once its process has ended, the next claimant gets a claim with the next epoch", async () => {
  const state = directory();
  const claims = new RunClaims(state);
  const [first, second] = [await sandbox("pod-1"), await sandbox("pod-2")];
  await claims.claim(vmi, first);
  await first.end();
  expect((await claims.claim(vmi, second)).grant).toMatchObject({ podUid: "pod-2", epoch: 2 });
  expect(readdirSync(join(state, "claims", "default_vm"))).toEqual(["2.json"]);
  await expect(claims.claim(vmi, first)).rejects.toMatchObject({ code: "AGENT_SANDBOX_GONE" });
  await second.end();
  claims.forget(vmi);
  claims.forget(vmi);
  expect(readdirSync(join(state, "claims"))).toEqual([]);
  expect(claims.holder(vmi)).toBeUndefined();
});

test.each([
  ["another boot", { bootId: "11111111-2222-4333-8444-555555555555" }],
  ["a pid that another process has by now", { startTime: "1" }],
])("%s proves that the holder has ended", async (_, change) => {
  const state = directory();
  const claims = new RunClaims(state);
  const [first, second] = [await sandbox("pod-1"), await sandbox("pod-2")];
  await claims.claim(vmi, first);
  const file = join(state, "claims", "default_vm", "1.json");
  const claim = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...claim, process: { ...claim.process, ...change } }));
  expect((await claims.claim(vmi, second)).grant.epoch).toBe(2);
});

test.each(["", "{}", '{"version":2}', '{"version":1,"epoch":1,"vmiUid":"a","podUid":"b"}'])(
  "a claim that reads %j does not count as free",
  async (text) => {
    const state = directory();
    mkdirSync(join(state, "claims", "default_vm"), { recursive: true });
    writeFileSync(join(state, "claims", "default_vm", "1.json"), text);
    const claims = new RunClaims(state);
    const refused = expect.objectContaining({ code: "AGENT_CLAIM_INVALID" });
    await expect(claims.claim(vmi, await sandbox("pod-1"))).rejects.toEqual(refused);
    expect(() => claims.forget(vmi)).toThrow(refused);
  },
);

test("the grant is free before the first claim, and then names the claim's process", async () => {
  const claims = new RunClaims(directory());
  expect(claims.grant(vmi).state).toBe("Free");
  const first = await sandbox("pod-1");
  await claims.claim(vmi, first);
  expect(claims.grant(vmi)).toMatchObject({
    state: "Claimed",
    holder: { podUID: "pod-1", containerID: expect.stringContaining(`/${first.process.pid}/`) },
  });
});

test("rejects invalid names", async () => {
  const claims = new RunClaims(directory());
  const claimant = await sandbox("pod-1");
  for (const change of [{ name: "../x" }, { namespace: "" }, { name: "A_b" }]) {
    await expect(claims.claim({ ...vmi, ...change }, claimant)).rejects.toMatchObject({
      code: "AGENT_ARGUMENT",
    });
  }
  await expect(claims.claim({ ...vmi, uid: "" }, claimant)).rejects.toMatchObject({
    code: "DOMAIN_NOT_GRANTED",
  });
});

test("a handover names both sides: its target claims only after a release, and neither is forgotten while it runs", async () => {
  const claims = new RunClaims(directory());
  const [source, target] = [await sandbox("pod-1"), await sandbox("pod-2")];
  await claims.claim(vmi, source);
  const store = claims.store(vmi);
  const swap = async (request: Parameters<typeof decide>[1]): Promise<void> => {
    const read = await store.read();
    const verdict = decide(read.grant, request);
    if ("refused" in verdict) throw new Error(verdict.reason);
    expect(await store.swap(read, verdict.grant)).toBe(true);
  };
  const to = RunClaims.holderOf(target);
  const handOver = { target: to, migrationUID: "m-1", remembered: true, sourceRuns: true };
  await swap({ kind: "handOver", ...handOver });
  expect(claims.grant(vmi)).toMatchObject({ state: "HandingOver", epoch: 1, seq: 3 });
  expect(claims.holder(vmi)?.podUid).toBe("pod-1");
  expect(claims.all()[0]?.claims.map(({ podUid }) => podUid)).toEqual(["pod-1", "pod-2"]);
  await expect(claims.claim(vmi, target)).rejects.toMatchObject({ code: "AGENT_CLAIM_HELD" });
  // Back, and over again: no value repeats.
  await swap({ kind: "decided", decision: { migrationUID: "m-1", outcome: "aborted" } });
  expect(claims.grant(vmi)).toMatchObject({ state: "Claimed", epoch: 1, seq: 4 });
  await swap({ kind: "handOver", ...handOver, migrationUID: "m-2" });
  await swap({ kind: "decided", decision: { migrationUID: "m-2", outcome: "released" } });
  await MayRun.claim(store, { holder: to });
  expect(claims.grant(vmi)).toMatchObject({ state: "Claimed", epoch: 2, seq: 7 });
  expect(claims.holder(vmi)?.podUid).toBe("pod-2");
  await source.end();
  expect(() => claims.forget(vmi)).toThrow(/pod-2/);
  await target.end();
  claims.forget(vmi);
  expect(claims.grant(vmi).state).toBe("Free");
});

test("a sandbox gets the guest of an interrupted handover once both sides have ended", async () => {
  const claims = new RunClaims(directory());
  const [source, target, next] = await Promise.all([
    sandbox("pod-1"),
    sandbox("pod-2"),
    sandbox("pod-3"),
  ]);
  await claims.claim(vmi, source);
  const store = claims.store(vmi);
  const read = await store.read();
  const handOver = { migrationUID: "m-1", remembered: true, sourceRuns: true } as const;
  const to = RunClaims.holderOf(target);
  const verdict = decide(read.grant, { kind: "handOver", target: to, ...handOver });
  if ("grant" in verdict) await store.swap(read, verdict.grant);
  for (const side of [source, target]) {
    await expect(claims.claim(vmi, next)).rejects.toMatchObject({ code: "AGENT_CLAIM_HELD" });
    await side.end();
  }
  expect((await claims.claim(vmi, next)).grant).toMatchObject({ podUid: "pod-3", epoch: 2 });
});
