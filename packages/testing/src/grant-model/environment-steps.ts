import { askGrant, codeAt, plan } from "./controller-steps.ts";
import { grantCode } from "./grant-code.ts";
import {
  at,
  bootOfNode,
  container,
  containerOf,
  copy,
  copyOf,
  extra,
  fenceOf,
  file,
  get,
  grantState,
  hasRecord,
  incarnationCount,
  kubeletOnline,
  lie,
  node,
  nodeBit,
  nodeOf,
  nodeOfPod,
  phase,
  pod,
  podOf,
  podState,
  report,
  reportOf,
  secondAgent,
  setBoot,
  setContainer,
  setFence,
  setFile,
  setLost,
  setMayRun,
  setNode,
  setPodState,
  setRecord,
  setReport,
  setSecondAgent,
  setTold,
  sourceOf,
  vmi,
} from "./layout.ts";
import { sparePod } from "./spare-pod.ts";
import type { World } from "./world.ts";

/** Everything that mends by itself. */
export function mendingSteps(w: World): void {
  const { s } = w;
  for (let n = 0; n < 2; n++) {
    if ((node(s, n) & nodeBit.apiCut) === 0) continue;
    setNode(w.begin(), n, nodeBit.apiCut, false);
    w.fair("network: a node reaches the API server again");
  }
  if (get(s, at.peerCut) !== 0) {
    w.begin()[at.peerCut] = 0;
    w.fair("network: the nodes reach each other again");
  }
  if (get(s, at.late) !== 0) {
    const n = w.begin();
    const next = codeAt(s, at.late);
    n.fill(0, at.late, at.late + 2);
    w.swap(next);
    w.fault("api server: a late write takes effect");
    w.begin().fill(0, at.late, at.late + 2);
    w.fault("api server: a late write is lost");
  }
  for (let n = 0; n < 2; n++) {
    if ((node(s, n) & nodeBit.off) === 0) continue;
    if (fenceOf(s, n) === 0) {
      setFence(w.begin(), n, bootOfNode(s, n) + 1);
      w.fault("person: confirms that a node is fenced");
    } else if (bootOfNode(s, n) === 0) {
      const after = w.begin();
      setNode(after, n, nodeBit.off, false);
      setNode(after, n, nodeBit.boot, true);
      w.fault("person: switches a fenced node on again");
    }
  }
}

/** Faults, each from its budget. */
export function faultSteps(w: World): void {
  const { s } = w;
  if (get(s, at.crashes) > 0) crashes(w);
  if (get(s, at.partitions) > 0) partitions(w);
  if (get(s, at.others) > 0) {
    nodeFaults(w);
    kubeletFaults(w);
    userFaults(w);
    lies(w);
  }
}

function crashes(w: World): void {
  const { s } = w;
  const crash = (): Uint8Array => {
    const n = w.begin();
    n[at.crashes] = get(n, at.crashes) - 1;
    return n;
  };
  for (let n = 0; n < 2; n++) {
    if ((node(s, n) & (nodeBit.off | nodeBit.agent)) !== nodeBit.agent) continue;
    // The crash of an agent that has nothing to do is only a later start.
    if (!hasWork(s, n)) continue;
    forgetMemory(crash(), n);
    w.fault("agent: crashes");
    if (get(s, at.others) > 0 && losesAnything(s, n)) {
      const after = crash();
      after[at.others] = get(after, at.others) - 1;
      forgetMemory(after, n);
      forgetDisk(after, n);
      w.fault("agent: crashes and comes back without its state");
    }
  }
  for (let inc = 0; inc < incarnationCount; inc++) {
    if (containerOf(s, inc) !== container.alive) continue;
    crash();
    w.kill(inc);
    w.fault("launcher: crashes with its guest");
  }
  const m = get(s, at.phaseOf);
  if (m !== 0 && get(s, at.perform) === phase.underWay) {
    crash()[at.perform] = phase.resuming;
    w.fault("libvirtd: crashes at the source during perform");
  }
}

function forgetMemory(n: Uint8Array, which: number): void {
  setNode(n, which, nodeBit.agent, false);
  for (let inc = 0; inc < incarnationCount; inc++) {
    if (podOf(n, inc) < 0 || nodeOf(n, inc) !== which) continue;
    setMayRun(n, inc, false);
  }
}

function hasWork(s: Uint8Array, which: number): boolean {
  for (let inc = 0; inc < incarnationCount; inc++) {
    if (containerOf(s, inc) === container.none || nodeOf(s, inc) !== which) continue;
    if (podState(s, podOf(s, inc)) !== pod.gone || containerOf(s, inc) === container.alive)
      return true;
  }
  return false;
}

function losesAnything(s: Uint8Array, which: number): boolean {
  for (let inc = 0; inc < incarnationCount; inc++) {
    if (podOf(s, inc) >= 0 && nodeOf(s, inc) === which && hasRecord(s, inc)) return true;
  }
  return false;
}

function forgetDisk(n: Uint8Array, which: number): void {
  for (let inc = 0; inc < incarnationCount; inc++) {
    if (podOf(n, inc) >= 0 && nodeOf(n, inc) === which) {
      setRecord(n, inc, false);
      setTold(n, inc, 0);
    }
  }
  for (let m = 1; m <= 2; m++) {
    const source = sourceOf(n, m);
    if (source < incarnationCount && nodeOf(n, source) === which) setFile(n, m, file.none);
  }
}

function partitions(w: World): void {
  const { s } = w;
  const cut = (): Uint8Array => {
    const n = w.begin();
    n[at.partitions] = get(n, at.partitions) - 1;
    return n;
  };
  for (let n = 0; n < 2; n++) {
    if ((node(s, n) & (nodeBit.apiCut | nodeBit.off)) !== 0) continue;
    setNode(cut(), n, nodeBit.apiCut, true);
    w.fault("network: a node is cut off from the API server");
  }
  if (get(s, at.peerCut) === 0 && get(s, at.phaseOf) !== 0) {
    cut()[at.peerCut] = 1;
    w.fault("network: the nodes are cut off from each other");
  }
}

/** One of the faults that share a budget. */
function other(w: World): Uint8Array {
  const n = w.begin();
  n[at.others] = get(n, at.others) - 1;
  return n;
}

function nodeFaults(w: World): void {
  const { s } = w;
  for (let n = 0; n < 2; n++) {
    if ((node(s, n) & nodeBit.off) !== 0) continue;
    if (bootOfNode(s, n) === 0) {
      const after = other(w);
      endNode(w, n);
      setNode(after, n, nodeBit.boot, true);
      w.fault("node: reboots");
    }
    const after = other(w);
    endNode(w, n);
    setNode(after, n, nodeBit.off, true);
    w.fault("node: loses power for good");
    if ((node(s, n) & (nodeBit.apiCut | nodeBit.replaced)) === nodeBit.apiCut) {
      setNode(other(w), n, nodeBit.replaced, true);
      w.fault("node: another machine gets the name of one that is cut off");
    }
    if (secondAgent(s, n) === 0) {
      const second = other(w);
      // With the lock it ends at once.
      if (w.without === "one-agent") setSecondAgent(second, n, 1);
      w.fault("node: a second agent starts");
    }
  }
}

function endNode(w: World, which: number): void {
  const { s } = w;
  forgetMemory(w.n, which);
  for (let inc = 0; inc < incarnationCount; inc++) {
    if (containerOf(s, inc) === container.alive && nodeOf(s, inc) === which) w.kill(inc);
  }
}

function kubeletFaults(w: World): void {
  const { s } = w;
  for (let p = 0; p < w.pods; p++) {
    const state = podState(s, p);
    if (state === pod.none || state === pod.gone || !kubeletOnline(s, nodeOfPod(p))) continue;
    if (containerOf(s, p) !== container.none && reportOf(s, p) === report.none) {
      setReport(other(w), p, report.unknown);
      w.fault("kubelet: reports ContainerStatusUnknown");
    }
    if (state !== pod.present || get(s, at.extraPod) !== 0 || containerOf(s, p) === container.none)
      continue;
    const n = other(w);
    n[at.extraPod] = p + 1;
    setContainer(n, extra, container.alive);
    setBoot(n, extra, bootOfNode(s, nodeOfPod(p)));
    if (containerOf(s, p) === container.alive) setLost(n, p);
    w.fault("kubelet: makes a new container for an old Pod UID");
  }
}

function userFaults(w: World): void {
  const { s } = w;
  const state = get(s, at.vmi);
  for (let p = 0; p < w.pods; p++) {
    const isThere = podState(s, p) === pod.present || podState(s, p) === pod.deleting;
    // Where no VM remembers, the Pod is the last record once its VMI was stripped.
    if (!isThere || get(s, at.hasVm) === 0) continue;
    const n = other(w);
    setPodState(n, p, pod.gone);
    for (const inc of [p, extra]) if (podOf(s, inc) === p) setReport(n, inc, report.none);
    w.fault("user: strips a Pod's finalizer and deletes it by force");
  }
  if (state === vmi.gone) return;
  if (state === vmi.present) {
    other(w)[at.vmi] = vmi.deleting;
    w.fault("user: deletes the VMI");
  }
  if (get(s, at.generation) === 0) {
    const n = other(w);
    n[at.vmi] = vmi.gone;
    w.swap(grantCode(grantState.Free, 7, 7, 0));
    w.outdate();
    w.fault("user: strips the VMI's finalizer and deletes it");
  }
  if (get(s, at.grant) !== grantState.Invalid) {
    other(w);
    w.swap(grantCode(grantState.Invalid, 7, 7, 0));
    w.fault("user: removes the annotation while the webhook is down");
  }
}

function lies(w: World): void {
  const { s } = w;
  const lieWith = (bit: number, step: string): void => {
    if ((get(s, at.lies) & bit) !== 0) return;
    const n = other(w);
    n[at.lies] = get(n, at.lies) | bit;
    w.fault(step);
  };
  lieWith(lie.podPhase, "garbage collector: says that Pods have failed");
  lieWith(lie.emptyCgroup, "agent: looks at a cgroup that it never saw populated");
  lieWith(lie.taintWhileReady, "user: taints a node that is Ready as out of service");
  if (get(s, at.vmi) === vmi.gone) return;
  const p = sparePod(s, w.pods);
  if (p >= 0 && get(s, at.grant) === grantState.Free && get(s, at.vmi) === vmi.present) {
    const remembered = get(s, at.hasVm) === 0 || ((get(s, at.memory) >> p) & 1) === 1;
    plan(w, askGrant(w, p, { live: false, remembered }), "grants a Pod", true);
  }
  staleDestroy(w);
}

/** A cache that does not have the VMI yet, or not any more. */
function staleDestroy(w: World): void {
  const { s } = w;
  for (let inc = 0; inc < incarnationCount; inc++) {
    if (copyOf(s, inc) === copy.none) continue;
    if (!w.mayDestroy(inc, { grant: -1, live: false, by: "agent" })) continue;
    other(w);
    w.destroy(inc);
    w.fault("agent with a stale cache: destroys a copy");
  }
}
