import { createRules, type Rules } from "./rules.ts";

const rules: Rules = createRules();

/**
 * Decides a change of the run grant: the next value, or why there is none. Pure; whoever asks swaps the
 * value in where the old one still stands.
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

/** Decides what the source's agent may put on disk as the decision of a migration. */
export const settle: Rules["settle"] = rules.settle;

/** Whether a paused copy may be resumed; else why not. */
export const mayResume: Rules["mayResume"] = rules.mayResume;

/** Whether a migration may switch to post-copy; else why not. */
export const maySwitch: Rules["maySwitch"] = rules.maySwitch;

/** Whether a copy may be destroyed; else why not. */
export const mayDestroy: Rules["mayDestroy"] = rules.mayDestroy;

/** Whether a Pod's finalizer may go, and the VM's memory of the Pod; else why not. */
export const mayForget: Rules["mayForget"] = rules.mayForget;
