/**
 * How a guest ended: `PoweredOff` by itself, `Stopped` on request, `Killed` by somebody who ended its QEMU,
 * `Crashed` by a panic or a fault of QEMU, `Failed` if QEMU could not be started or the guest's liveness
 * probe failed.
 */
export const guestEndKinds = ["PoweredOff", "Stopped", "Killed", "Crashed", "Failed"] as const;

/** One of {@link guestEndKinds}. */
export type GuestEndKind = (typeof guestEndKinds)[number];

/** The end of a guest. Plain JSON. */
export interface GuestEnd {
  readonly kind: GuestEndKind;
  /** Why, in one sentence for people. */
  readonly message: string;
  /** When it was seen, as an ISO date. */
  readonly at: string;
}

/** What is known about a guest that no longer runs. */
export interface GuestEndFacts {
  /** State and reason of its last status: the last report of libvirt. */
  readonly state: string;
  readonly reason: string;
  /** The strongest request before it ended. */
  readonly told?: "shutdown" | "kill-after-grace" | "kill" | undefined;
  /**
   * The signal that ended QEMU: `SIGKILL`. Undefined if it ended on its own, or if nobody knows.
   */
  readonly signal?: string | undefined;
  /** Whether a signal told QEMU to end, and it did so in order. */
  readonly signalled?: boolean | undefined;
  /** What the last check of its liveness probe found, if it was ended for that. */
  readonly lifeless?: string | undefined;
  /** What is known about a panic of the guest's kernel. */
  readonly panic?: string | undefined;
}

/** Signals that a faulty program raises itself; any other came from outside. */
const faults = ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP", "SIGSYS"];

const asked = {
  shutdown: "the guest shut down as requested",
  "kill-after-grace": "the guest did not shut down within its grace period and was killed",
  kill: "it was killed on request",
} as const;

type End = Omit<GuestEnd, "at">;

/** Ends that need no further analysis. */
const plainEnds: Readonly<Record<string, End>> = {
  Failed: { kind: "Failed", message: "QEMU could not be started" },
  Migrated: { kind: "Stopped", message: "it was moved elsewhere" },
  Saved: { kind: "Stopped", message: "its memory was saved" },
};

/**
 * Decides how a guest ended. libvirt has one reason, `Crashed`, for a killed QEMU, a failed QEMU
 * and a kernel panic: the signal and the panic distinguish them.
 */
export function guestEnd(facts: GuestEndFacts): End {
  const { state, reason, told, panic, lifeless } = facts;
  if (lifeless !== undefined) {
    return { kind: "Failed", message: `its liveness probe failed: ${lifeless}` };
  }
  if (state === "Crashed" || reason === "Panicked") return panicked(panic);
  if (reason === "Shutdown") return poweredOff(facts);
  if (reason === "Destroyed") return destroyed(told);
  const plain = Object.hasOwn(plainEnds, reason) ? plainEnds[reason] : undefined;
  if (plain) return plain;
  if (panic !== undefined) return panicked(panic);
  return reason === "Crashed" ? qemuEnded(facts) : gone(facts);
}

function poweredOff({ told, signalled }: GuestEndFacts): End {
  if (told) return { kind: "Stopped", message: asked[told === "kill" ? "shutdown" : told] };
  return signalled
    ? { kind: "Killed", message: "QEMU was ended by a signal from outside" }
    : { kind: "PoweredOff", message: "the guest powered itself off" };
}

function destroyed(told: GuestEndFacts["told"]): End {
  if (told === "kill" || told === "kill-after-grace") {
    return { kind: "Stopped", message: asked[told] };
  }
  return {
    kind: "Killed",
    message: "somebody destroyed it through libvirt; find out who uses libvirt here",
  };
}

/** A domain that was removed says nothing any more. */
function gone(facts: GuestEndFacts): End {
  if (facts.told) return { kind: "Stopped", message: asked[facts.told] };
  if (facts.signal !== undefined) return qemuEnded(facts);
  return { kind: "Killed", message: "it is gone, although nobody here ended it" };
}

function panicked(panic: string | undefined): End {
  return { kind: "Crashed", message: panic ?? "the guest's kernel panicked" };
}

function qemuEnded({ signal }: GuestEndFacts): End {
  if (signal === undefined) return { kind: "Crashed", message: "QEMU ended unexpectedly" };
  if (faults.includes(signal)) return { kind: "Crashed", message: `QEMU crashed (${signal})` };
  const memory = signal === "SIGKILL" ? ", perhaps by the kernel because memory ran out" : "";
  return { kind: "Killed", message: `QEMU was killed with ${signal}${memory}` };
}
