import { describe, expect, test } from "vitest";
import type { Grant, Handover, Holder, ReadGrant } from "../grant/index.ts";
import { mayChangeGrant } from "./agent-grant-change.ts";

function holderOn(node: string, podUID: string): Holder {
  const of = { machineID: `m-${node}`, bootID: `b-${node}`, nonce: `n-${podUID}` };
  return { podUID, containerID: `c-${podUID}`, node, ...of };
}

const source = holderOn("source", "p1");
const target = holderOn("target", "p2");
const counted = (epoch: number, seq: number) => ({ vmiUID: "u", epoch, seq });
const free: Grant = { state: "Free", vmiUID: "", epoch: 0, seq: 0 };
const granted: Grant = { state: "Granted", ...counted(1, 1), podUID: "p1" };
const claimed: Grant = { state: "Claimed", ...counted(1, 2), holder: source };
const moved = { holder: source, target, migrationUID: "m" };
const handover = (state: Handover["state"], seq: number): Handover => {
  return { state, ...counted(1, seq), ...moved };
};
const handingOver = handover("HandingOver", 3);
const released = handover("Released", 4);
const committed = handover("Committed", 4);
const ended = (seq: number): Grant => ({ state: "Ended", ...counted(1, seq) });
const back = (seq: number): Grant => ({ state: "Claimed", ...counted(1, seq), holder: source });
const taken = (seq: number): Grant => ({ state: "Claimed", ...counted(2, seq), holder: target });

/** The nodes whose agents may make a change, of the source's, the target's, and a third one. */
function writersOf(
  before: ReadGrant,
  after: ReadGrant,
  { isFinal = false, at = "source" }: { isFinal?: boolean; at?: string } = {},
): readonly string[] {
  return ["source", "target", "other"].filter((node) =>
    mayChangeGrant(before, after, { node, isHere: node === at, isFinal }),
  );
}

describe("what an agent writes into the run grant, and whose agent may", () => {
  test.each<[string, Grant, Grant, readonly string[]]>([
    ["claims the guest", granted, claimed, ["source"]],
    ["reports that the guest has ended", claimed, ended(3), ["source"]],
    ["releases", handingOver, released, ["source"]],
    ["aborts", handingOver, back(4), ["source"]],
    ["commits to post-copy", handingOver, committed, ["source"]],
    ["takes back what QEMU never switched", committed, back(5), ["source"]],
    ["releases what pre-copy completed", committed, handover("Released", 5), ["source"]],
    ["claims what was released", released, taken(5), ["target"]],
    ["claims with a release that came directly", handingOver, taken(4), ["target"]],
    ["claims after post-copy", committed, taken(5), ["target"]],
  ])("%s", (_, before, after, writers) => {
    expect(writersOf(before, after)).toEqual(writers);
  });

  test.each<[string, Grant, Grant]>([
    ["handed over", handingOver, ended(4)],
    ["released", released, ended(5)],
    ["committed", committed, ended(5)],
  ])("reports that a guest is lost that was %s", (_, before, after) => {
    expect(writersOf(before, after, { isFinal: true })).toEqual(["target"]);
    expect(writersOf(before, after)).toEqual([]);
  });
});

describe("what no agent may write, not even in a VMI that has ended", () => {
  const elsewhere = { ...source, node: "other" };
  const invalid: ReadGrant = { state: "Invalid", problem: "it is absent" };
  const podless: Grant = { state: "Granted", ...counted(2, 3), podUID: "p3" };
  test.each<[string, ReadGrant, ReadGrant]>([
    ["a claim of nothing", free, { ...claimed, seq: 1 }],
    ["a claim of an ended grant", ended(3), { ...claimed, epoch: 2, seq: 4 }],
    ["a claim for another Pod", granted, { ...claimed, holder: target }],
    ["a claim for another node", granted, { ...claimed, holder: elsewhere }],
    ["another holder", claimed, { ...claimed, seq: 3, holder: elsewhere }],
    ["another incarnation", claimed, { ...claimed, seq: 3, holder: { ...source, nonce: "x" } }],
    ["that nobody has ever run", claimed, free],
    ["that a guest that nobody claimed has ended", granted, ended(2)],
    ["a grant", claimed, podless],
    ["a grant after the end", ended(3), { ...podless, seq: 4 }],
    ["a handover", claimed, handingOver],
    ["another target", handingOver, { ...released, target: { ...target, node: "other" } }],
    ["another migration", handingOver, { ...released, migrationUID: "m2" }],
    ["that a released guest is back", released, back(5)],
    ["that a released guest is not released", released, handover("HandingOver", 5)],
    ["the next epoch for the source", released, { ...back(5), epoch: 2 }],
    ["the target's claim in the same epoch", released, { ...taken(5), epoch: 1 }],
    ["a lower number", claimed, ended(1)],
    ["the same number again", claimed, ended(2)],
    ["a number that was left out", claimed, ended(4)],
    ["nothing", claimed, invalid],
    ["a claim where there was nothing", invalid, claimed],
  ])("%s", (_, before, after) => {
    expect(writersOf(before, after)).toEqual([]);
    expect(writersOf(before, after, { isFinal: true })).toEqual([]);
  });
});

test("a guest is claimed only by the agent of the node that its VMI is on", () => {
  expect(writersOf(granted, claimed, { at: "target" })).toEqual([]);
});

test("a write that leaves the grant as it is passes, whatever the grant", () => {
  const all: readonly ReadGrant[] = [
    ...[free, granted, claimed, handingOver, ended(3)],
    { state: "Invalid", problem: "it is absent" },
  ];
  for (const grant of all) {
    expect(writersOf(grant, { ...grant })).toEqual(["source", "target", "other"]);
  }
});
