import { createRules, type Rules } from "./rules.ts";

const rules: Rules = createRules();

/**
 * Decides a change of the run grant: the next value, or why it is refused. A pure function; the caller then swaps
 * the value in, if the stored value is still the old one.
 *
 * @example
 * ```ts
 * import { decide, freeGrant } from "@virtkit/api/grant";
 *
 * const earlier = { remembered: [], listed: [], live: true };
 * const request = { vmiUID: "vmi", podUID: "pod", proofs: [], remembered: true, earlier };
 * const verdict = decide(freeGrant, { kind: "grant", ...request });
 * console.log("grant" in verdict && verdict.grant.state); // Granted
 * ```
 */
export const decide: Rules["decide"] = rules.decide;

/** Decides what the source's agent may write to disk as the decision of a migration. */
export const settle: Rules["settle"] = rules.settle;

/** Whether a paused copy may be resumed, and if not, why. */
export const mayResume: Rules["mayResume"] = rules.mayResume;

/** Whether a migration may switch to post-copy, and if not, why. */
export const maySwitch: Rules["maySwitch"] = rules.maySwitch;

/** Whether a copy may be destroyed, and if not, why. */
export const mayDestroy: Rules["mayDestroy"] = rules.mayDestroy;

/** Whether a Pod's finalizer may be removed and the VM may forget the Pod; if not, why. */
export const mayForget: Rules["mayForget"] = rules.mayForget;
