import type { GuardName } from "@virtkit/api/grant";

/** Guards that are not rules of the grant itself: the store's compare-and-swap, and the lock of a node's agent. */
export const partGuards = {
  "compare-and-swap":
    "A write takes effect only if the stored value is still the one that was read.",
  "one-agent": "One agent works on a node: the lock belongs to the node, not to a state directory.",
} as const;

/** A guard of the rules, or of the parts that use them. */
export type AnyGuard = GuardName | keyof typeof partGuards;
