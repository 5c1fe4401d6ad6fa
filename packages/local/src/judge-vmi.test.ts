import type { TraceEntry } from "@virtkit/api/timeline";
import type { DomainStatus, GuestEnd } from "@virtkit/domain-manager";
import { expect, test } from "vitest";
import { judgeVmi, type VmiFacts, type VmiState } from "./judge-vmi.ts";

const begun: TraceEntry[] = [
  { stage: "admitted", at: "t0" },
  { stage: "pod-created", at: "t0" },
  { stage: "scheduled", at: "t0" },
];
const ready: TraceEntry[] = [...begun, { stage: "pod-running" }, { stage: "launcher-ready" }];
const ran: TraceEntry[] = [
  ...ready,
  { stage: "prepared" },
  { stage: "network-bound" },
  { stage: "claimed" },
  { stage: "domain-defined" },
  { stage: "guest-running" },
];
const noSpace = {
  stage: "domain-defined",
  state: "failed",
  message: "no space",
  at: "t1",
} as const;
const notRunning = {
  stage: "guest-running",
  state: "failed",
  message: "syncVmi: no space",
} as const;
const absent = { state: "Absent", reason: "NonExistent" } as DomainStatus;
const off = { state: "Shutoff", reason: "Crashed" } as DomainStatus;
const killed: GuestEnd = { kind: "Killed", message: "QEMU was killed", at: "t2" };
const notStarted: GuestEnd = { kind: "Failed", message: "QEMU could not be started", at: "t2" };

const starting: VmiFacts = {
  isAlive: true,
  starterLives: true,
  isClaimed: false,
  trace: begun,
  hasRebooted: false,
};
const running: VmiFacts = { ...starting, isClaimed: true, trace: ran, starterLives: false };
const dead = { isAlive: false, starterLives: false };

test.each<[string, VmiFacts, VmiState["state"], RegExp?]>([
  ["no sandbox yet", { ...starting, isAlive: false }, "Starting"],
  ["the launcher is silent, nothing is claimed", starting, "Starting"],
  ["the launcher has no guest yet", { ...starting, trace: ready, status: absent }, "Starting"],
  [
    "claimed, and the process that starts it waits",
    { ...starting, isClaimed: true, trace: ready },
    "Starting",
  ],
  ["it runs", { ...running, status: { state: "Running" } as DomainStatus }, "Running"],
  [
    "it runs, whatever an older note says",
    { ...running, status: { state: "Paused" } as DomainStatus, note: { how: "x", end: killed } },
    "Paused",
  ],
  ["a guest that may run behind a silent launcher", running, "Unknown"],
  [
    "the same, if no record says that it runs",
    { ...running, trace: ready, isClaimed: true },
    "Unknown",
  ],
  ["off, before the launcher has said why", { ...running, status: off }, "Shutoff"],
  ["killed", { ...running, status: { ...off, end: killed } }, "Killed", /^QEMU was killed$/],
  [
    "killed, according to the note of a launcher that has ended",
    { ...running, ...dead, note: { how: "guest-ended", end: killed } },
    "Killed",
    /^QEMU/,
  ],
  ["ended, and nobody noted why", { ...running, ...dead }, "Killed", /launcher was killed/],
  [
    "ended with its host",
    { ...running, ...dead, hasRebooted: true },
    "Killed",
    /host was restarted/,
  ],
  [
    "ran unseen, and its launcher was killed",
    { ...running, ...dead, trace: ready, note: { how: "guest-ended" } },
    "Killed",
    /launcher was killed/,
  ],
  [
    "ended because of its liveness probe, by a launcher that did not see it",
    { ...running, ...dead, note: { how: "liveness-failed", error: "no answer" } },
    "Failed",
    /^its liveness probe failed: no answer$/,
  ],
  [
    "a start that failed",
    { ...starting, trace: [...ready, notRunning, noSpace] },
    "Failed",
    /^domain-defined: no space$/,
  ],
  [
    "a start that failed in QEMU: the trace knows why",
    {
      ...starting,
      isClaimed: true,
      trace: [...ready, noSpace],
      note: { how: "guest-ended", end: notStarted },
    },
    "Failed",
    /no space/,
  ],
  [
    "the same without a trace",
    {
      ...running,
      ...dead,
      trace: [],
      starterLives: true,
      note: { how: "guest-ended", end: notStarted },
    },
    "Failed",
    /could not be started/,
  ],
  [
    "a failure after which a guest may still run",
    { ...starting, isClaimed: true, starterLives: false, trace: [...ready, noSpace] },
    "Unknown",
  ],
  [
    "the process that starts it was killed before the sandbox existed",
    { ...starting, ...dead, trace: [] },
    "Failed",
    /interrupted at admitted/,
  ],
  [
    "the process that starts it was killed while it created the sandbox",
    { ...starting, starterLives: false },
    "Failed",
    /interrupted at pod-running: the process/,
  ],
  [
    "the process that starts it was killed, and the launcher waits",
    { ...starting, starterLives: false, trace: ready, status: absent },
    "Failed",
    /interrupted at prepared/,
  ],
  [
    "its disks could not be mounted",
    {
      ...starting,
      trace: [...ready, { stage: "prepared", state: "failed", message: "step disk/root: no file" }],
    },
    "Failed",
    /^prepared: step disk\/root: no file$/,
  ],
  [
    "somebody else holds the claim",
    {
      ...starting,
      trace: [...ready, { stage: "claimed", state: "failed", message: "Pod x holds claim 1" }],
    },
    "Failed",
    /^claimed: Pod x holds claim 1$/,
  ],
  [
    "the process that starts it was killed after the claim, and the launcher has no guest",
    { ...starting, starterLives: false, isClaimed: true, trace: ready, status: absent },
    "Failed",
    /interrupted/,
  ],
  [
    "its host was restarted during the start",
    { ...starting, ...dead, hasRebooted: true },
    "Failed",
    /restarted/,
  ],
  [
    "its launcher failed",
    { ...starting, ...dead, note: { how: "launcher-failed", error: "no libvirtd" } },
    "Failed",
    /launcher failed: no libvirtd/,
  ],
])("%s", (_, facts, state, message) => {
  const found = judgeVmi(facts);
  expect(found.state).toBe(state);
  if (message)
    expect(found.end).toMatchObject({ kind: state, message: expect.stringMatching(message) });
  else expect(found.end).toBeUndefined();
});
