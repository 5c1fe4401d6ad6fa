import type { Holder, ProofOfEnd } from "@virtkit/api/grant";
import {
  agentOnline,
  at,
  bootOf,
  bootOfNode,
  container,
  containerOf,
  extra,
  fenceOf,
  get,
  hasRecord,
  lie,
  node,
  nodeBit,
  nodeOf,
  podOf,
  podState,
  pod as pods,
  report,
  reportOf,
} from "./layout.ts";

const holders = new Map<number, Holder>();

/** An incarnation as the rules know it. */
export function holderOf(s: Uint8Array, inc: number): Holder {
  const key = inc * 64 + podOf(s, inc) * 8 + bootOf(s, inc);
  let holder = holders.get(key);
  if (!holder) {
    const n = nodeOf(s, inc);
    holder = {
      podUID: `pod-${podOf(s, inc)}`,
      containerID: `container-${inc}`,
      node: `node-${n}`,
      machineID: `machine-${n}`,
      bootID: `boot-${bootOf(s, inc)}`,
      nonce: `nonce-${inc}`,
    };
    holders.set(key, holder);
  }
  return holder;
}

const bit = {
  terminated: 1,
  unknown: 2,
  sibling: 4,
  processGone: 8,
  emptyOnly: 16,
  boot: 32,
  sameBoot: 64,
  replaced: 128,
  fenced: 256,
  fencedBefore: 512,
  taintWhileReady: 1024,
  podPhase: 2048,
} as const;

/** All evidence of an incarnation's end that a controller can lay its hands on, true or not. */
export function evidenceBits(s: Uint8Array, inc: number): number {
  const lies = get(s, at.lies);
  const taint = (lies & lie.taintWhileReady) === 0 ? 0 : bit.taintWhileReady;
  const phase = (lies & lie.podPhase) === 0 ? 0 : bit.podPhase;
  return reportBits(s, inc) | agentBits(s, inc) | nodeBits(s, inc) | taint | phase;
}

/** What the kubelet reported, as long as the Pod is there to be read. */
function reportBits(s: Uint8Array, inc: number): number {
  if (podState(s, podOf(s, inc)) === pods.gone) return 0;
  const own = reportOf(s, inc);
  const sibling = siblingReport(s, inc) === report.terminated ? bit.sibling : 0;
  if (own === report.terminated) return sibling | bit.terminated;
  return own === report.unknown ? sibling | bit.unknown : sibling;
}

/** What the node's agent saw. */
function agentBits(s: Uint8Array, inc: number): number {
  const n = nodeOf(s, inc);
  if (!agentOnline(s, n)) return 0;
  if (!hasRecord(s, inc)) return (get(s, at.lies) & lie.emptyCgroup) === 0 ? 0 : bit.emptyOnly;
  const isSeen = containerOf(s, inc) === container.dead && bootOf(s, inc) === bootOfNode(s, n);
  return isSeen ? bit.processGone : 0;
}

/** What is known about the node: its boot, and what a person said. */
function nodeBits(s: Uint8Array, inc: number): number {
  const n = nodeOf(s, inc);
  const flags = node(s, n);
  const fence = fenceOf(s, n);
  const fenced = fence - 1 === bootOf(s, inc) ? bit.fenced : bit.fencedBefore;
  const said = fence === 0 ? 0 : fenced;
  if ((flags & nodeBit.replaced) !== 0) return said | bit.replaced;
  if ((flags & (nodeBit.off | nodeBit.apiCut)) !== 0) return said;
  return said | (bootOf(s, inc) === bootOfNode(s, n) ? bit.sameBoot : bit.boot);
}

function siblingReport(s: Uint8Array, inc: number): number {
  const p = podOf(s, inc);
  if (get(s, at.extraPod) - 1 !== p) return report.none;
  return reportOf(s, inc === extra ? p : extra);
}

/** The evidence as the rules take it. */
export function proofsFrom(bits: number, inc: number, holder: Holder): readonly ProofOfEnd[] {
  const { containerID, machineID, bootID } = holder;
  const other = bootID === "boot-0" ? "boot-1" : "boot-0";
  const terminated = (id: string, reason: string): ProofOfEnd => ({
    kind: "containerTerminated",
    containerID: id,
    reason,
  });
  const sibling =
    inc === extra ? `container-${Number(holder.podUID.slice(4))}` : `container-${extra}`;
  const fenced = { kind: "fenced", machineID, nodeReady: false } as const;
  const all: readonly (readonly [number, ProofOfEnd])[] = [
    [bit.terminated, terminated(containerID, "Error")],
    [bit.unknown, terminated(containerID, "ContainerStatusUnknown")],
    [bit.sibling, terminated(sibling, "Error")],
    [bit.processGone, { kind: "processGone", containerID, bootID, seen: "cgroup" }],
    [bit.emptyOnly, { kind: "processGone", containerID, bootID, seen: "emptyOnly" }],
    [bit.boot, { kind: "bootChanged", machineID, bootID: other }],
    [bit.sameBoot, { kind: "bootChanged", machineID, bootID }],
    [bit.replaced, { kind: "bootChanged", machineID: "machine-new", bootID: "boot-new" }],
    [bit.fenced, { ...fenced, bootID }],
    [bit.fencedBefore, { ...fenced, bootID: other }],
    [bit.taintWhileReady, { ...fenced, bootID, nodeReady: true }],
    [bit.podPhase, { kind: "podPhase" } as unknown as ProofOfEnd],
  ];
  return all.filter(([flag]) => (bits & flag) !== 0).map(([, proof]) => proof);
}
