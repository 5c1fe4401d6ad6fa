import type { GuardName } from "@virtkit/api/grant";

/** Guards that no reducer can hold: the store's comparison, and the lock of a node's agent. */
export const partGuards = {
  "compare-and-swap": "A write lands only where the value that was read still stands.",
  "one-agent": "One agent works on a node: the lock is the node's, not that of a state directory.",
} as const;

/** A guard of the rules, or of the parts that ask them. */
export type AnyGuard = GuardName | keyof typeof partGuards;
