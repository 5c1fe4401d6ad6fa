import type { Rules } from "@virtkit/api/grant/checking";
import type { PodObject } from "./cluster-objects.ts";
import type { VmMemory } from "./vm-memory.ts";

/** The rules of the run grant that a controller uses. */
export type GrantRules = Pick<Rules, "decide" | "mayDestroy" | "mayForget">;

/** What decisions about the run grant of a VMI depend on. */
export interface GrantView extends VmMemory {
  /**
   * Whether the VMI and everything here were read from the API server, not from a cache. If not,
   * the plan says whether it needs that.
   */
  readonly isLive: boolean;
  /** The launcher Pods of this VMI and of every earlier one of the same name. */
  readonly pods: readonly PodObject[];
  /** The Nodes of these Pods, and of those that the grant names. */
  readonly nodes: readonly unknown[];
  /** Only for a checker that disables a rule. */
  readonly rules?: GrantRules;
}
