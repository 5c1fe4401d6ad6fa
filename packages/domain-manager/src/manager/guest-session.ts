import type { Clock } from "@virtkit/api/clock";
import type { Names } from "@virtkit/api/names";
import type { Stage } from "@virtkit/api/timeline";
import type { DeviceTopology } from "../disks/cloud-init/device-metadata.ts";
import type { FileOwner } from "../disks/files/write-image.ts";
import type { Caller } from "./guest-domain.ts";
import type { GuestIdentity, RunRight } from "./run-right.ts";

/** A handoff of the timeline, as a manager reports it. */
export interface StageReport {
  readonly stage: Stage;
  readonly state: "done" | "failed";
  /** What failed. */
  readonly message?: string;
}

/** What all parts of a manager share: its guest, its connection, and its environment. */
export interface GuestSession {
  readonly libvirt: Caller;
  readonly identity: GuestIdentity;
  /** Name of the domain. */
  readonly name: string;
  readonly names: Names;
  readonly clock: Clock;
  readonly right: RunRight;
  /** Owner of the disks that are made. */
  readonly owner: FileOwner | undefined;
  readonly topology: DeviceTopology;
  readonly report: (report: StageReport) => void;
}
