import type { PolicyRule } from "@virtkit/node-agent/service";

/** A rule of a Role or ClusterRole, optionally for objects of certain names. */
export interface Rule extends PolicyRule {
  readonly resourceNames?: readonly string[];
}
