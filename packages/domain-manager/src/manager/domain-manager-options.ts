import type { Clock } from "@virtkit/api/clock";
import type { Names } from "@virtkit/api/names";
import type { Observers } from "@virtkit/api/observe";
import type { DeviceTopology } from "../disks/cloud-init/device-metadata.ts";
import type { FileOwner } from "../disks/files/write-image.ts";
import type { Libvirt } from "../libvirt/libvirt.ts";
import type { StageReport } from "./guest-session.ts";
import type { GuestIdentity } from "./run-right.ts";

/** How {@link createDomainManager} makes a manager. */
export interface DomainManagerOptions extends Observers {
  readonly libvirt: Libvirt;
  /**
   * For calls that the guest's agent answers: libvirtd works on only a few calls of a connection at
   * a time, and a hanging agent keeps its call there. Default: `libvirt`, which such an agent can
   * then occupy.
   */
  readonly agentLibvirt?: Libvirt;
  readonly identity: GuestIdentity;
  /** Directories as this process sees them; the domain has KubeVirt's. */
  readonly names?: Names;
  readonly clock?: Clock;
  readonly disks?: {
    /** Owner of files that are created for QEMU. Default: this process's own user. */
    readonly owner?: FileOwner;
  };
  /**
   * What the node knows about PCI devices, for a guest that learns where its tagged devices are.
   * Default: sysfs.
   */
  readonly topology?: DeviceTopology;
  /** QEMU's log, which has the details of a panic. */
  readonly qemuLog?: string;
  /** Called for every handoff of the timeline; also part of the events. */
  readonly onStage?: (report: StageReport) => void;
}
