/**
 * Every rule that prevents a VM from running twice or from being lost, by name. `docs/at-most-one-copy.md`
 * shows what happens without each; the checker in `@virtkit/testing` finds it.
 */
export const guards = {
  readable: "A grant that is absent or unreadable permits nothing.",
  "list-is-live":
    "The first grant of a VMI needs a live list of the Pods of that name, not a cache.",
  "listed-ended": "The first grant of a VMI needs proof of the end of every Pod in that list.",
  "remembered-ended":
    "The first grant of a VMI needs proof of the end of every Pod that the VM remembers.",
  "remember-first": "The VM remembers a Pod before a grant names it.",
  "granted-pod": "Only the Pod that was granted may claim.",
  "one-incarnation": "A claim is confirmed only to the incarnation that made it.",
  "holder-ended": "A grant with a holder is granted again only with proof of the holder's end.",
  "target-ended": "During a handover it also needs proof of the target's end.",
  "proof-kind": "Only the known kinds of evidence prove an end; a Pod's phase does not.",
  "proof-names-container": "A proof of end by container or process names the holder's container.",
  "status-known": "ContainerStatusUnknown does not prove that a container has ended.",
  "seen-populated":
    "An empty cgroup proves an end only to an agent that saw it populated in this boot.",
  "same-machine": "A new boot proves an end only on the machine that the holder ran on.",
  "other-boot": "A boot proves an end only if it is not the one that the holder ran in.",
  "fence-names-boot": "A fence proves an end only in the boot that it names.",
  "fence-not-ready": "The out-of-service taint proves nothing while the Node is Ready.",
  "one-handover": "A grant is handed over only while no other handover is in progress.",
  "source-runs": "A guest is handed over only once it runs.",
  "own-decision": "A decision changes only the handover that it was made for.",
  "target-claims": "Only the incarnation that a handover names may claim as its target.",
  "claim-needs-release": "A target claims only after a release, or once post-copy is complete.",
  "never-switched": "A committed source goes back only if QEMU never entered post-copy.",
  "begun-here":
    "Only the agent whose disk says that it began a migration decides it; any agent may abort one whose source runs.",
  "first-decision": "The first decision of a migration stands.",
  "perform-answered": "A release needs a successful reply to perform.",
  "finish-answered": "A release needs a successful reply to finish.",
  "commit-before-switch": "Post-copy starts only after the decision to commit is on disk.",
  "commit-known": "Post-copy starts only once the grant says that it is committed.",
  "resume-own-release": "A target resumes only on a release of its own migration.",
  "resume-after-abort":
    "A stopped source resumes only if the disk or the grant says that the migration was aborted.",
  "release-known": "A released source ends only once the grant or the target has the release.",
  "handover-stays": "A controller deletes neither Pod of a handover.",
  "destroy-live-read": "A copy is destroyed only after a live read, never because of a cache.",
  "destroy-unnamed":
    "A copy that the grant names is not destroyed, nor is one that holds a release.",
  "forget-unnamed":
    "A Pod keeps its finalizer while the grant names it: the proof would be lost with the Pod.",
} as const;

/** Name of a guard. */
export type GuardName = keyof typeof guards;

/** Whether a rule holds; with a guard removed, what it asks for always holds. */
export type Must = (guard: GuardName, holds: boolean) => boolean;

/** All guards are active, except one that a checker removes. A checker may also hear which are asked. */
export function enforce(without: GuardName | undefined, asked?: (guard: GuardName) => void): Must {
  return (guard, holds) => {
    asked?.(guard);
    return holds || guard === without;
  };
}
