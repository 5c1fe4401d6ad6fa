import type { PolicyRule } from "@virtkit/node-agent/service";

/** A rule of a Role or ClusterRole, for objects of certain names where it says so. */
export interface Rule extends PolicyRule {
  readonly resourceNames?: readonly string[];
}
