import type { Clock } from "@virtkit/api/clock";
import type { Holder } from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import type { Log } from "@virtkit/api/observe";
import type { Random } from "@virtkit/api/random";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { KubeClient, Resource } from "@virtkit/kube";
import type { NodeHook } from "../plan/index.ts";
import type { GuestRecord, GuestRecords } from "./guest-record.ts";
import type { NodeHost } from "./node-host.ts";
import type { OwnNode } from "./own-node.ts";
import type { Effects } from "./seams.ts";
import type { VersionMark } from "./version-mark.ts";

/** What a platform runs on the node at certain moments; a failure keeps the guest from continuing. */
export type NodeHooks = Partial<
  Record<NodeHook, (vmi: VirtualMachineInstance | undefined) => Promise<void>>
>;

/** What every pass of an agent works with. */
export interface AgentContext {
  readonly client: KubeClient;
  readonly vmis: Resource;
  readonly names: Names;
  readonly host: NodeHost;
  readonly records: GuestRecords;
  readonly mark: VersionMark;
  readonly ownNode: OwnNode;
  readonly effects: Effects;
  readonly hooks?: NodeHooks | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly wall: () => Date;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The incarnation of a record, as grants name it. */
  holderOf(record: GuestRecord): Holder;
}
