/**
 * The state of the model, in bytes. One VM, two nodes, a few Pods. There are no counters that only grow:
 * epochs and sequence numbers are left out, because a swap that finds another value than it read fails
 * here by dropping the write, which is what they are for.
 */

/** Where each value is. */
export const at = {
  /** The grant: its state, holder (of `Granted`: the Pod), target and migration. */
  grant: 0,
  holder: 1,
  target: 2,
  migration: 3,
  vmi: 4,
  /** How many VMIs of this name there were before. */
  generation: 5,
  /** Whether a VM owns the VMI; else nobody remembers Pods. */
  hasVm: 6,
  /** Bits: Pods that the VM remembers. */
  memory: 7,
  /** Four Pods. */
  pods: 8,
  /** Five incarnations, three bytes each: container and copy; reports and records; what the agent knows. */
  incarnations: 12,
  /** Pod of the fifth incarnation plus one: the kubelet made a second container for it. */
  extraPod: 27,
  /** Two nodes, two bytes each. */
  nodes: 28,
  peerCut: 32,
  /** Two migrations, two bytes each: decision on disk and message in progress; source and target. */
  migrations: 33,
  /** What the source's launcher knows of the migration in progress. */
  perform: 37,
  finish: 38,
  /** Migration that it is of. */
  phaseOf: 39,
  /** Two controllers, two bytes each: the write that one is about to make. */
  plans: 40,
  /** A write that timed out and may still land. */
  late: 44,
  /** Bits: evidence that lies. */
  lies: 46,
  /** What is left of each budget. */
  crashes: 47,
  partitions: 48,
  lateWrites: 49,
  others: 50,
  /** Migrations that were created. */
  migrationsUsed: 51,
  /** Set by a step that must never happen. */
  wrong: 52,
} as const;

export const width = 53;

export const incarnationCount = 5;
export const extra = 4;
export const nobody = 7;

export const grantState = {
  Invalid: 0,
  Free: 1,
  Granted: 2,
  Claimed: 3,
  HandingOver: 4,
  Released: 5,
  Committed: 6,
  Ended: 7,
} as const;

export const vmi = { gone: 0, present: 1, deleting: 2 } as const;
export const pod = { none: 0, present: 1, deleting: 2, gone: 3 } as const;
export const container = { none: 0, alive: 1, dead: 2 } as const;

/** What a QEMU is. */
export const copy = {
  none: 0,
  /** Receives; its memory is incomplete. */
  incoming: 1,
  /** Has all of the memory, `finish` not done. */
  received: 2,
  /** Complete and paused. */
  full: 3,
  running: 4,
  /** A source after `perform`. */
  stopped: 5,
  /** A source after the switch to post-copy. */
  postCopySource: 6,
  /** A target after the switch, before its first run. */
  postCopyWaiting: 7,
  postCopyRunning: 8,
  /** Stopped, waiting for pages that do not come; it has run. */
  postCopyBroken: 9,
} as const;

export const report = { none: 0, terminated: 1, unknown: 2 } as const;

/** What the disk of the source's agent says of a migration. */
export const file = {
  none: 0,
  begun: 1,
  released: 2,
  aborted: 3,
  committed: 4,
  returned: 5,
} as const;

/**
 * `under way`: requested and not answered yet. `lost`: no answer will come. `resuming`: libvirtd died and
 * will resume the source.
 */
export const phase = {
  idle: 0,
  ready: 1,
  underWay: 2,
  ok: 3,
  lost: 4,
  resuming: 5,
  postCopy: 6,
} as const;

export const lie = { podPhase: 1, emptyCgroup: 2, taintWhileReady: 4 } as const;

export const wrong = {
  none: 0,
  stale: 1,
  incomplete: 2,
  released: 3,
  destroyed: 4,
} as const;

/** Pods take turns between the two nodes. */
export function nodeOfPod(pod: number): number {
  return pod & 1;
}

export function podOf(s: Uint8Array, inc: number): number {
  return inc === extra ? get(s, at.extraPod) - 1 : inc;
}

export function nodeOf(s: Uint8Array, inc: number): number {
  return nodeOfPod(podOf(s, inc));
}

export function get(s: Uint8Array, index: number): number {
  return s[index] as number;
}

// First byte of an incarnation: container (2 bits), copy (4), stale (1).
export function containerOf(s: Uint8Array, inc: number): number {
  return get(s, at.incarnations + inc * 3) & 3;
}
export function copyOf(s: Uint8Array, inc: number): number {
  return (get(s, at.incarnations + inc * 3) >> 2) & 15;
}
/** Another copy has run since this one's memory was captured. */
export function isStale(s: Uint8Array, inc: number): boolean {
  return (get(s, at.incarnations + inc * 3) & 64) !== 0;
}
export function setContainer(s: Uint8Array, inc: number, value: number): void {
  const index = at.incarnations + inc * 3;
  s[index] = (get(s, index) & ~3) | value;
}
export function setCopy(s: Uint8Array, inc: number, value: number): void {
  const index = at.incarnations + inc * 3;
  s[index] = (get(s, index) & ~60) | (value << 2);
}
export function setStale(s: Uint8Array, inc: number, value: boolean): void {
  const index = at.incarnations + inc * 3;
  s[index] = (get(s, index) & ~64) | (value ? 64 : 0);
}

// Second byte: report of the kubelet (2 bits), boot (1), whether the kubelet has lost it (1).
export function reportOf(s: Uint8Array, inc: number): number {
  return get(s, at.incarnations + inc * 3 + 1) & 3;
}
export function bootOf(s: Uint8Array, inc: number): number {
  return (get(s, at.incarnations + inc * 3 + 1) >> 2) & 1;
}
export function isLost(s: Uint8Array, inc: number): boolean {
  return (get(s, at.incarnations + inc * 3 + 1) & 8) !== 0;
}
export function setReport(s: Uint8Array, inc: number, value: number): void {
  const index = at.incarnations + inc * 3 + 1;
  s[index] = (get(s, index) & ~3) | value;
}
export function setBoot(s: Uint8Array, inc: number, value: number): void {
  const index = at.incarnations + inc * 3 + 1;
  s[index] = (get(s, index) & ~4) | (value << 2);
}
export function setLost(s: Uint8Array, inc: number): void {
  const index = at.incarnations + inc * 3 + 1;
  s[index] = get(s, index) | 8;
}

// Third byte: the agent's disk has its nonce (1), the agent holds a MayRun (2), a release that was told and synced (2 bits).
export function hasRecord(s: Uint8Array, inc: number): boolean {
  return (get(s, at.incarnations + inc * 3 + 2) & 1) !== 0;
}
export function holdsMayRun(s: Uint8Array, inc: number): boolean {
  return (get(s, at.incarnations + inc * 3 + 2) & 2) !== 0;
}
export function toldOf(s: Uint8Array, inc: number): number {
  return (get(s, at.incarnations + inc * 3 + 2) >> 2) & 3;
}
export function setRecord(s: Uint8Array, inc: number, value: boolean): void {
  const index = at.incarnations + inc * 3 + 2;
  s[index] = (get(s, index) & ~1) | (value ? 1 : 0);
}
export function setMayRun(s: Uint8Array, inc: number, value: boolean): void {
  const index = at.incarnations + inc * 3 + 2;
  s[index] = (get(s, index) & ~2) | (value ? 2 : 0);
}
export function setTold(s: Uint8Array, inc: number, migration: number): void {
  const index = at.incarnations + inc * 3 + 2;
  s[index] = (get(s, index) & ~12) | (migration << 2);
}

// First byte of a node: off (1), boot (2), agent up (4), cut from the API (8), name given to another machine (16).
export const nodeBit = { off: 1, boot: 2, agent: 4, apiCut: 8, replaced: 16 } as const;
export function node(s: Uint8Array, n: number): number {
  return get(s, at.nodes + n * 2);
}
export function setNode(s: Uint8Array, n: number, bit: number, value: boolean): void {
  const index = at.nodes + n * 2;
  s[index] = value ? get(s, index) | bit : get(s, index) & ~bit;
}
export function bootOfNode(s: Uint8Array, n: number): number {
  return (node(s, n) >> 1) & 1;
}
// Second byte: boot that was fenced plus one (2 bits), second agent (2 bits: none, there, has aborted).
export function fenceOf(s: Uint8Array, n: number): number {
  return get(s, at.nodes + n * 2 + 1) & 3;
}
export function setFence(s: Uint8Array, n: number, value: number): void {
  const index = at.nodes + n * 2 + 1;
  s[index] = (get(s, index) & ~3) | value;
}
export function secondAgent(s: Uint8Array, n: number): number {
  return (get(s, at.nodes + n * 2 + 1) >> 2) & 3;
}
export function setSecondAgent(s: Uint8Array, n: number, value: number): void {
  const index = at.nodes + n * 2 + 1;
  s[index] = (get(s, index) & ~12) | (value << 2);
}

/** Whether the node's agent works and reaches the API server. */
export function agentOnline(s: Uint8Array, n: number): boolean {
  return (node(s, n) & (nodeBit.off | nodeBit.agent | nodeBit.apiCut)) === nodeBit.agent;
}
export function agentUp(s: Uint8Array, n: number): boolean {
  return (node(s, n) & (nodeBit.off | nodeBit.agent)) === nodeBit.agent;
}
export function kubeletOnline(s: Uint8Array, n: number): boolean {
  return (node(s, n) & (nodeBit.off | nodeBit.apiCut)) === 0;
}

// Migrations are 1 and 2. First byte: decision (3 bits), release in progress (8). Second: source (3 bits), target (3 bits).
export function fileOf(s: Uint8Array, m: number): number {
  return get(s, at.migrations + (m - 1) * 2) & 7;
}
export function setFile(s: Uint8Array, m: number, value: number): void {
  const index = at.migrations + (m - 1) * 2;
  s[index] = (get(s, index) & ~7) | value;
}
export function hasMessage(s: Uint8Array, m: number): boolean {
  return (get(s, at.migrations + (m - 1) * 2) & 8) !== 0;
}
export function setMessage(s: Uint8Array, m: number, value: boolean): void {
  const index = at.migrations + (m - 1) * 2;
  s[index] = (get(s, index) & ~8) | (value ? 8 : 0);
}
export function sourceOf(s: Uint8Array, m: number): number {
  return get(s, at.migrations + (m - 1) * 2 + 1) & 7;
}
export function targetOf(s: Uint8Array, m: number): number {
  return (get(s, at.migrations + (m - 1) * 2 + 1) >> 3) & 7;
}
export function setSides(s: Uint8Array, m: number, source: number, target: number): void {
  s[at.migrations + (m - 1) * 2 + 1] = source | (target << 3);
}
/** The migration that an incarnation is the target of; 0 if none. */
export function migrationTo(s: Uint8Array, inc: number): number {
  for (let m = get(s, at.migrationsUsed); m > 0; m--) if (targetOf(s, m) === inc) return m;
  return 0;
}

export function podState(s: Uint8Array, p: number): number {
  return get(s, at.pods + p) & 3;
}
export function setPodState(s: Uint8Array, p: number, value: number): void {
  s[at.pods + p] = (get(s, at.pods + p) & ~3) | value;
}
/** Which VMI of the name a Pod was made for. */
export function podGeneration(s: Uint8Array, p: number): number {
  return get(s, at.pods + p) >> 2;
}
/** Whether the VMI that an incarnation was made for is gone; everybody reads by UID. */
export function isVmiGone(s: Uint8Array, inc: number): boolean {
  return get(s, at.vmi) === vmi.gone || podGeneration(s, podOf(s, inc)) !== get(s, at.generation);
}
export function makePod(s: Uint8Array, p: number): void {
  s[at.pods + p] = pod.present | (get(s, at.generation) << 2);
}

/** Whether a guest's vCPUs run, or have run and are stopped. */
export function isRunning(value: number): boolean {
  return value === copy.running || value === copy.postCopyRunning || value === copy.postCopyBroken;
}
