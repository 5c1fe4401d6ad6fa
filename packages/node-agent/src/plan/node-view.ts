import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { DomainState, DomainStatus } from "@virtkit/domain-manager";
import type { PassMemory } from "./pass-memory.ts";

/**
 * A domain and what its launcher remembers about it. `Unset`: it was created, and its state is not reported yet.
 * `Unknown`: its state cannot be determined.
 */
export interface NodeDomain extends Omit<DomainStatus, "state"> {
  readonly state: Exclude<DomainState, "Absent"> | "Unset" | "Unknown";
  /** UID of the VMI that it was created for. */
  readonly vmiUid: string;
  readonly grace?: {
    /** The grace period in seconds that applied when the guest was started. */
    readonly seconds?: number;
    /** When it was first asked to shut down; milliseconds since the epoch. */
    readonly startedAt?: number;
    /** Whether the launcher wants it to shut down, because its Pod was asked to end. */
    readonly isMarked?: boolean;
  };
  /** Whether an interrupted start defined it: it has not run. */
  readonly isUnstarted?: boolean;
  /** The last migration that it took part in. */
  readonly migration?: { readonly hasStarted: boolean; readonly hasEnded: boolean };
  readonly memoryDump?: {
    readonly fileName: string;
    readonly startTimestamp?: string;
    readonly endTimestamp?: string;
    readonly completed?: boolean;
    readonly failed?: boolean;
    readonly failureReason?: string;
  };
  readonly backup?: {
    readonly name: string;
    readonly startTimestamp?: string;
    readonly endTimestamp?: string;
    readonly completed?: boolean;
    readonly failed?: boolean;
    readonly message?: string;
    readonly checkpointName?: string;
    /** JSON: the volumes that were backed up. */
    readonly volumes?: string;
    readonly quiesceStatus?: string;
  };
  /** Volumes whose disks track changed blocks. */
  readonly trackedVolumes?: readonly string[];
}

/**
 * The state of a launcher.
 * - `ready`: it answers, or did when it was last asked.
 * - `starting`: its socket is not there yet.
 * - `ended`: its first process is proven to have ended.
 * - `unknown`: that could not be found out now.
 * - `silent`: it was found and does not answer, or cannot be proven to be this VMI's. That is no evidence
 *   of anything: its guest may run.
 */
export type LauncherState = "ready" | "starting" | "ended" | "unknown" | "silent";

/** What is known about a VMI's launcher. */
export interface LauncherView {
  readonly state: LauncherState;
  /** Whether there is a connection. */
  readonly isConnected: boolean;
  /** Whether it answers on it. Default: as `isConnected`. */
  readonly answers?: boolean;
  /** Why it is `silent`, for people. */
  readonly problem?: string;
}

/** The parts of a backup's checkpoints that a node needs. */
export interface BackupTracker {
  readonly namespace: string;
  readonly name: string;
  readonly hasCheckpoint: boolean;
  readonly isMarked: boolean;
}

/** What one pass of the node agent over one VMI is based on. */
export interface NodeView {
  /** Absent: a live read has proven that it is gone. */
  readonly vmi?: VirtualMachineInstance | undefined;
  /** UID of a VMI that is gone, from the domain or the agent's records. */
  readonly uid?: string | undefined;
  /** Absent if the launcher says that libvirt knows none, or nobody has reported anything yet. */
  readonly domain?: NodeDomain | undefined;
  readonly launcher: LauncherView;
  /** Why the launcher's sandbox could not be opened; absent if it could. */
  readonly sandboxProblem?: string | undefined;
  /** Name of this node. */
  readonly node: string;
  readonly config: ClusterConfig;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether the agent's own last write has not come back yet. */
  readonly isBehind?: boolean;
  /** Why the run grant does not let this sandbox start the guest; absent if it does. */
  readonly grantObstacle?: string | undefined;
  /** The CPU model that a `host-model` guest gets here; empty if the node does not report it. */
  readonly hostCpuModel?: string;
  readonly hostArchitecture?: string | undefined;
  readonly podIps?: Readonly<Record<string, readonly string[]>>;
  /** Hotplugged volumes that are mounted in the Pod. Default: unknown. */
  readonly mountedVolumes?: readonly string[] | undefined;
  /** The SELinux context of the launcher, or `none`; absent if unknown. */
  readonly selinuxContext?: string | undefined;
  /** Bytes of files below the launcher's root, by absolute path. */
  readonly fileSizes?: Readonly<Record<string, number>>;
  readonly trackers?: readonly BackupTracker[];
  /** What the last pass over this VMI left. */
  readonly memory?: PassMemory;
}
