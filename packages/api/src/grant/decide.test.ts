import { expect, test } from "vitest";
import { decide, mayDestroy, mayForget, mayResume, maySwitch, settle } from "./decide.ts";
import { freeGrant, type Grant, type Holder, type ReadGrant } from "./grant.ts";
import { decodeGrant, encodeGrant } from "./grant-annotation.ts";
import type { ProofOfEnd } from "./proof-of-end.ts";
import type { GrantRequest, GrantToPod } from "./request.ts";

function holder(name: string): Holder {
  return {
    podUID: `pod-${name}`,
    containerID: `container-${name}`,
    node: `node-${name}`,
    machineID: `machine-${name}`,
    bootID: "boot-1",
    nonce: `nonce-${name}`,
  };
}
const [source, target] = [holder("a"), holder("b")];

function ended({ containerID }: Holder): ProofOfEnd {
  return { kind: "containerTerminated", containerID, reason: "Completed" };
}

function grantTo(podUID: string, change: Partial<GrantToPod> = {}): GrantToPod {
  const earlier = { remembered: [], listed: [], live: true };
  return { kind: "grant", vmiUID: "vmi", podUID, proofs: [], remembered: true, earlier, ...change };
}

function next(grant: ReadGrant, request: GrantRequest): Grant {
  const verdict = decide(grant, request);
  if ("refused" in verdict) throw new Error(`${verdict.refused}: ${verdict.reason}`);
  return verdict.grant;
}

const granted = next(freeGrant, grantTo("pod-a"));
const claimed = next(granted, { kind: "claim", holder: source });
const handingOver = next(claimed, {
  kind: "handOver",
  target,
  migrationUID: "move",
  remembered: true,
  sourceRuns: true,
});
const released = { migrationUID: "move", outcome: "released" } as const;

test("a cold start: granted, claimed, ended with proof, granted again with the next epoch", () => {
  expect(granted).toMatchObject({ state: "Granted", epoch: 1, seq: 1, vmiUID: "vmi" });
  expect(claimed).toMatchObject({ state: "Claimed", epoch: 1, seq: 2, holder: source });
  const end = next(claimed, { kind: "end", vmiUID: "vmi", proofs: [ended(source)] });
  expect(end).toMatchObject({ state: "Ended", epoch: 1, seq: 3 });
  expect(next(end, grantTo("pod-b"))).toMatchObject({ state: "Granted", epoch: 2, seq: 4 });
});

test("an unused grant ends as its VMI's, so that it can be read again", () => {
  const end = next(freeGrant, { kind: "end", vmiUID: "vmi", proofs: [] });
  expect(decodeGrant(encodeGrant(end), "vmi")).toEqual(end);
});

test("a request for the present state returns the same value: there is nothing to write", () => {
  expect(next(claimed, { kind: "claim", holder: source })).toBe(claimed);
  expect(next(granted, grantTo("pod-a"))).toBe(granted);
});

test.each([
  ["by the grant", next(handingOver, { kind: "decided", decision: released }), undefined],
  ["by the message alone", handingOver, released],
])("a target claims after a release %s", (_, grant, evidence) => {
  const claim = next(grant, { kind: "claim", holder: target, evidence });
  expect(claim).toMatchObject({ state: "Claimed", epoch: 2, holder: target });
});

test("an abort returns the grant to its holder, with the same epoch", () => {
  const decision = { migrationUID: "move", outcome: "aborted" } as const;
  const back = next(handingOver, { kind: "decided", decision });
  expect(back).toMatchObject({ state: "Claimed", epoch: 1, holder: source });
});

test("a refusal names the guard, and what a person must check if nobody can bring the evidence", () => {
  expect(decide(claimed, grantTo("pod-b"))).toEqual({
    refused: "holder-ended",
    reason: "the Pod pod-a on node node-a is not proven to have ended",
    whatAPersonMustCheck: expect.stringContaining("virtkit fence confirm node-a"),
  });
  expect(decide({ state: "Invalid", problem: "it is absent" }, grantTo("pod-b"))).toMatchObject({
    refused: "readable",
    whatAPersonMustCheck: expect.stringContaining("no node runs the guest"),
  });
  expect(settle(undefined, { ...released, perform: "ok", finish: "ok" })).toMatchObject({
    refused: "begun-here",
    whatAPersonMustCheck: expect.stringContaining("on which node the guest runs"),
  });
});

test("a refusal says why evidence proves nothing", () => {
  const proofs = [
    { kind: "containerTerminated", containerID: "container-a", reason: "ContainerStatusUnknown" },
  ] as const;
  expect(decide(claimed, grantTo("pod-b", { proofs }))).toMatchObject({ refused: "status-known" });
});

test.each([
  { kind: "processGone", containerID: "container-a", bootID: "boot-1", seen: "pidfd" },
  { kind: "bootChanged", machineID: "machine-a", bootID: "boot-2" },
  { kind: "fenced", machineID: "machine-a", bootID: "boot-1", nodeReady: false },
  { kind: "leaseTaken", containerID: "container-a" },
] as const satisfies readonly ProofOfEnd[])("$kind proves an end", (proof) => {
  expect(next(claimed, grantTo("pod-b", { proofs: [proof] })).state).toBe("Granted");
});

test("a lease taken from another container proves nothing", () => {
  const proofs = [{ kind: "leaseTaken", containerID: "container-b" }] as const;
  expect(decide(claimed, grantTo("pod-b", { proofs }))).toMatchObject({
    refused: "proof-names-container",
  });
});

test("the state on disk decides what may run, switch, end and be forgotten", () => {
  const begun = { migrationUID: "move" };
  const settled = settle(begun, { ...released, perform: "ok", finish: "ok" });
  expect(settled).toEqual({ record: released });
  const aborts = { migrationUID: "move", outcome: "aborted", sourceRuns: true } as const;
  expect(settle(released, aborts)).toMatchObject({ refused: "first-decision" });
  expect(mayResume({ as: "target", migrationUID: "move", release: released })).toBeUndefined();
  const request = { as: "source", holder: source, record: released, grant: handingOver } as const;
  expect(mayResume(request)).toMatchObject({ refused: "resume-after-abort" });
  const committed = { migrationUID: "move", outcome: "committed" } as const;
  expect(maySwitch(committed, handingOver)).toMatchObject({ refused: "commit-known" });
  const known = next(handingOver, { kind: "decided", decision: committed });
  expect(maySwitch(committed, known)).toBeUndefined();
  const destroying = {
    holder: source,
    live: true,
    released: false,
    proofs: [],
    by: "agent",
  } as const;
  expect(mayDestroy({ ...destroying, grant: handingOver, record: released })).toMatchObject({
    refused: "release-known",
  });
  expect(mayDestroy({ ...destroying, grant: undefined })).toBeUndefined();
  const forgetting = { holder: source, proofs: [ended(source)] };
  expect(mayForget({ ...forgetting, grant: claimed })).toMatchObject({ refused: "forget-unnamed" });
  expect(mayForget({ ...forgetting, grant: undefined })).toBeUndefined();
});
