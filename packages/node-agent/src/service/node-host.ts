import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { SyncRequest } from "@virtkit/domain-manager";
import type { LauncherClient, MigrationVerbs } from "@virtkit/launcher/client";
import type { WantedPlug } from "../hotplug/hotplug-plan.ts";
import type { WayIn, WayInOptions, WayOut, WayOutOptions } from "../migration/migration-way.ts";
import type { ProcessIdentity } from "../sandbox/process-identity.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** What the agent asks of a launcher whose guest moves. */
export type MovingClient = Pick<
  MigrationVerbs,
  "cancelMigration" | "followMigration" | "migrate" | "noteClaim" | "noteGrant" | "receiveMigration"
>;

/** What the agent asks of a launcher. Without the verbs of a migration, its guest stays where it is. */
export type GuestClient = Pick<
  LauncherClient,
  "close" | "delete" | "events" | "kill" | "memoryDump" | "ping" | "shutdown" | "status" | "syncVmi"
> &
  Partial<MovingClient>;

/** A container of a Pod, as the kubelet reports it. */
export interface ContainerName {
  readonly podUid: string;
  /** `containerd://<64 hexadecimal digits>` */
  readonly containerID: string;
}

/** A launcher found on this node by its container, and held open: it cannot be mistaken for another. */
export interface FoundLauncher extends Disposable {
  readonly process: ProcessIdentity;
  /** Absent if the launcher is simulated. */
  readonly sandbox?: Sandbox;
  /** Whether its first process has ended. The kernel says so; silence does not. */
  hasEnded(): boolean;
  /** One attempt. Rejects if nobody answers, or another VMI's launcher does. */
  connect(
    vmi: VirtualMachineInstance,
    options: { readonly signal: AbortSignal },
  ): Promise<GuestClient>;
  /** Makes the sandbox ready. May be repeated. */
  prepare(
    vmi: VirtualMachineInstance,
    client: GuestClient,
    options: { readonly signal: AbortSignal },
  ): Promise<Omit<SyncRequest, "mayRun">>;
  /** Lets the guest of one migration in. Absent if no guest can move into this launcher. */
  openWayIn?(options: WayInOptions): Promise<WayIn>;
  /** Opens the connection for the guest to its target. Absent if it cannot leave. */
  openWayOut?(options: WayOutOptions): Promise<WayOut>;
  /** Removes what an earlier agent has left of a connection. Only if none is open. */
  clearWay?(): void;
  /** Sizes in bytes of those of these files that exist. */
  fileSizes(paths: readonly string[]): Readonly<Record<string, number>>;
  /** Names of the hotplugged volumes that are in its sandbox. */
  pluggedVolumes(): readonly string[];
  /** Hotplugged volumes that an interrupted agent has neither plugged in nor removed completely. */
  interruptedVolumes(): readonly string[];
  /**
   * Puts a hotplugged volume into its sandbox, from the container that has brought it to this node. May be
   * repeated.
   */
  plugVolume(wanted: WantedPlug, from: ContainerName, vmi: VirtualMachineInstance): Promise<void>;
  /** Removes from its sandbox a hotplugged volume that no guest uses any longer. May be repeated. */
  unplugVolume(volume: string, vmi: VirtualMachineInstance): Promise<void>;
  /** The SELinux context that its files need; `none` if SELinux is off. */
  readonly selinuxContext: string;
}

/** The node, as far as guests are concerned. */
export interface NodeHost {
  /** Undefined if no process of that container is visible, which proves nothing. */
  find(container: ContainerName): FoundLauncher | undefined;
  /** Whether a process that was once seen is proven to have ended. */
  hasEnded(process: ProcessIdentity): boolean;
  /** Undoes what was prepared for a Pod. May be repeated. */
  cleanUp(
    podUid: string,
    launcher: FoundLauncher | undefined,
    options: { readonly signal: AbortSignal },
  ): Promise<void>;
}
