import type { ExecResult, GuestFileSystem, GuestOs, GuestUser } from "@virtkit/domain-manager";

/** Something that happens to a guest without a request. */
export type GuestHappening =
  /** The guest powers itself off. */
  | { readonly kind: "power-off" }
  /** The guest's kernel panics. */
  | { readonly kind: "panic" }
  /** QEMU ends: by a fault of its own, or killed. */
  | { readonly kind: "qemu-ends" }
  /** Somebody else has libvirt destroy the domain. */
  | { readonly kind: "destroyed" }
  /** A disk fails: the guest is paused until it is unpaused. */
  | { readonly kind: "io-error"; readonly volume: string; readonly reason: "enospc" | "eio" }
  /** The agent is gone; it comes back with the next boot, or when it is started again. */
  | { readonly kind: "agent-lost" }
  | { readonly kind: "agent-started" }
  /** Subscribers of events have missed some: they get `resync` and the whole status. */
  | { readonly kind: "events-missed" };

/** The result of a program in a simulated guest, and how long it takes. */
export interface SimulatedProgram extends ExecResult {
  /** Milliseconds. By default 10. */
  readonly takes?: number;
}

/** What a simulated guest does. Times are in milliseconds; the guest's own time stops while it is paused. */
export interface GuestScript {
  /** What a sync takes to prepare, define and start it. By default 500. */
  readonly prepare?: number;
  /** From its start until it obeys its power button. By default 3000. */
  readonly boot?: number;
  /** From its start until its agent is connected; undefined is a guest without agent. By default 5000. */
  readonly agent?: number | undefined;
  /** From a request until it is off; undefined is a guest that does not obey. By default 2000. */
  readonly shutdown?: number | undefined;
  /** Bytes of its memory. By default what its VMI says, else 256 MiB. */
  readonly memory?: number;
  /** How many bytes of memory it writes per second while it runs, and the size of the area that it writes to. */
  readonly dirty?: { readonly bytesPerSecond: number; readonly workingSet?: number };
  /** What a dump of its memory takes. By default 1000. */
  readonly dump?: number;
  /** What happens to it, counted from each boot. */
  readonly happens?: readonly { readonly after: number; readonly what: GuestHappening }[];
  /** What a program does. By default it ends with 0 and says nothing. */
  readonly exec?: (command: string, args: readonly string[]) => SimulatedProgram;
  /** What its agent reports. */
  readonly os?: GuestOs;
  readonly hostname?: string;
  /** Addresses by the name of the VMI's interface. */
  readonly addresses?: Readonly<Record<string, readonly string[]>>;
  readonly users?: readonly GuestUser[];
  readonly fileSystems?: readonly GuestFileSystem[];
}
