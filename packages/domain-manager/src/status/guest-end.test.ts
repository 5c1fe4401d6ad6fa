import { expect, test } from "vitest";
import { type GuestEndFacts, type GuestEndKind, guestEnd } from "./guest-end.ts";

const crashed = { state: "Shutoff", reason: "Crashed" } as const;
const shutdown = { state: "Shutoff", reason: "Shutdown" } as const;
const destroyed = { state: "Shutoff", reason: "Destroyed" } as const;
const gone = { state: "Absent", reason: "NonExistent" } as const;
const panic = "the guest's kernel panicked: hyper-v 0x5a";

test.each<[string, GuestEndFacts, GuestEndKind, RegExp]>([
  ["a poweroff in the guest", shutdown, "PoweredOff", /powered itself off/],
  [
    "SIGTERM to QEMU, which shuts down",
    { ...shutdown, signalled: true },
    "Killed",
    /ended by a signal/,
  ],
  ["a shutdown on request", { ...shutdown, told: "shutdown" }, "Stopped", /as requested/],
  [
    "a shutdown while it was being killed",
    { ...shutdown, told: "kill" },
    "Stopped",
    /as requested/,
  ],
  ["a kill on request", { ...destroyed, told: "kill" }, "Stopped", /killed on request/],
  [
    "a kill after the grace period",
    { ...destroyed, told: "kill-after-grace" },
    "Stopped",
    /grace period/,
  ],
  ["virsh destroy", destroyed, "Killed", /somebody destroyed it through libvirt/],
  ["virsh destroy in a shutdown", { ...destroyed, told: "shutdown" }, "Killed", /somebody/],
  ["kill -9 of QEMU", { ...crashed, signal: "SIGKILL" }, "Killed", /SIGKILL.*memory ran out/],
  ["kill -9 in a shutdown", { ...crashed, signal: "SIGKILL", told: "shutdown" }, "Killed", /KILL/],
  ["SIGTERM to QEMU, which ends at once", { ...crashed, signal: "SIGTERM" }, "Killed", /SIGTERM$/],
  [
    "a segmentation fault of QEMU",
    { ...crashed, signal: "SIGSEGV" },
    "Crashed",
    /QEMU crashed \(SIGSEGV\)/,
  ],
  ["a failed assertion in QEMU", { ...crashed, signal: "SIGABRT" }, "Crashed", /SIGABRT/],
  ["a QEMU that just ended", crashed, "Crashed", /unexpectedly/],
  ["a panic", { ...crashed, panic, signal: "SIGKILL" }, "Crashed", /panicked: hyper-v 0x5a/],
  [
    "a panic, with the domain kept",
    { state: "Crashed", reason: "Panicked" },
    "Crashed",
    /panicked/,
  ],
  ["a start that failed", { state: "Shutoff", reason: "Failed" }, "Failed", /could not be started/],
  ["a liveness probe", { ...shutdown, told: "shutdown", lifeless: "no answer" }, "Failed", /probe/],
  ["a migration", { state: "Shutoff", reason: "Migrated" }, "Stopped", /moved/],
  ["gone after a request", { ...gone, told: "shutdown" }, "Stopped", /as requested/],
  ["gone after a signal", { ...gone, signal: "SIGKILL" }, "Killed", /SIGKILL/],
  ["gone after a panic", { ...gone, panic }, "Crashed", /panicked/],
  ["gone without a trace", gone, "Killed", /nobody here/],
])("%s", (_, facts, kind, message) => {
  expect(guestEnd(facts)).toEqual({ kind, message: expect.stringMatching(message) });
});
