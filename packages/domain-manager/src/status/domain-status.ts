import type { GuestEnd } from "./guest-end.ts";

/** libvirt's states of a domain; `Absent` if it does not know the domain. */
export const domainStates = [
  "Absent",
  "NoState",
  "Running",
  "Blocked",
  "Paused",
  "ShuttingDown",
  "Shutoff",
  "Crashed",
  "PMSuspended",
] as const;

/**
 * One of {@link domainStates}. `NoState` also stands for any that is newer than this release: it
 * proves nothing.
 */
export type DomainState = (typeof domainStates)[number];

/** A change that a sync has not applied to a running guest. */
export interface PendingChange {
  /** What it needs: a new Pod for the same guest, a restart of the guest, or the next sync. */
  readonly effect: "needs-migration" | "needs-restart" | "retry";
  /** What would change, for people: `attach the disk "data" (vdb)`. */
  readonly summary: string;
  /** Why it was not done. */
  readonly reason?: string;
}

/** An interface as the guest sees it. */
export interface GuestInterface {
  /** Name of the VMI's interface with this MAC; absent for one that the guest created itself. */
  readonly name?: string;
  readonly mac: string;
  /** As the guest calls it: `eth0`. Absent if only the domain knows it. */
  readonly interfaceName?: string;
  /** The representative one first: IPv4 before IPv6. Link-local ones are included. */
  readonly ips: readonly string[];
  /** Only for an interface of the domain. */
  readonly queueCount?: number;
  /** Only if the domain says so: `up`, `down`. */
  readonly linkState?: string;
}

/** The parts of a domain, as libvirt has them. */
export interface DomainHardware {
  /** The machine type that libvirt chose: `pc-q35-9.2`. */
  readonly machine?: string;
  /** What the guest has now; the unit is one of libvirt's. */
  readonly memory?: { readonly value: number; readonly unit: string };
  /** Whether its CPUs are emulated. */
  readonly emulated: boolean;
  /** Whether it can be asked to shut down through ACPI. */
  readonly acpi: boolean;
}

/** What the guest agent reports about the guest's system. */
export interface GuestOs {
  readonly id?: string;
  readonly name?: string;
  readonly prettyName?: string;
  readonly version?: string;
  readonly versionId?: string;
  readonly kernelRelease?: string;
  readonly kernelVersion?: string;
  readonly machine?: string;
}

/** The result of one of the VMI's probes. */
export interface ProbeStatus {
  /** `pending`: too few checks so far. */
  readonly state: "pending" | "passing" | "failing";
  /** Why the last check failed; absent if it did not. */
  readonly message?: string;
}

/**
 * Everything that is known about a guest now. Plain JSON. It is rebuilt from libvirt and the guest
 * agent after any restart; nothing in it is remembered only here.
 */
export interface DomainStatus {
  /** Name of the domain: `namespace_name`. */
  readonly name: string;
  readonly uuid?: string;
  readonly state: DomainState;
  /** Why it is in that state, as KubeVirt names it: `User`, `IOError`, `Shutdown`, `Migrated`, ... */
  readonly reason: string;
  readonly agent: "connected" | "disconnected";
  readonly interfaces: readonly GuestInterface[];
  /** The device of each volume that is a disk: `{ volume: "root", target: "vda" }`. */
  readonly disks: readonly { readonly volume: string; readonly target: string }[];
  /** Only if there is a domain. */
  readonly hardware?: DomainHardware;
  readonly os?: GuestOs;
  readonly hostname?: string;
  readonly timezone?: string;
  readonly fsFreeze?: "frozen" | "thawed";
  readonly agentVersion?: string;
  readonly agentCommands?: readonly string[];
  /** The last attempt to bring access credentials into the guest. */
  readonly accessCredentials?: { readonly synced: boolean; readonly message?: string };
  /**
   * Only in the answer to a sync, and only if there is any: what the VMI wants and the guest lacks.
   */
  readonly pending?: readonly PendingChange[];
  /** Set once the launcher has been told to end: the guest is being shut down. */
  readonly shutdownRequestedAt?: string;
  /** From a launcher that runs the VMI's probes itself, if there is no kubelet. */
  readonly probes?: { readonly readiness?: ProbeStatus; readonly liveness?: ProbeStatus };
  /** Set if a signal told QEMU to end: the guest did not power itself off. */
  readonly signalled?: boolean;
  /** Only from a launcher, once it has seen its guest end: how it ended. */
  readonly end?: GuestEnd;
}
