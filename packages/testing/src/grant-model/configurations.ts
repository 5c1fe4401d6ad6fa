import type { GrantModelOptions } from "./grant-model.ts";
import type { AnyGuard } from "./part-guards.ts";

const nothing = { migrations: 0, crashes: 0, partitions: 0, lateWrites: 0, others: 0 } as const;

/**
 * The largest configuration that every run checks: everything that a migration does, with several faults at once.
 */
export const everyday: GrantModelOptions = {
  pods: 3,
  migrations: 2,
  crashes: 2,
  partitions: 1,
  lateWrites: 1,
  others: 0,
  vm: "with",
};

/** Smaller configurations, which combine each of the other faults with crashes, partitions and late writes. */
export const everydayFaults: readonly GrantModelOptions[] = [
  { ...nothing, pods: 2, migrations: 1, crashes: 1, others: 1 },
  { ...nothing, pods: 2, migrations: 1, crashes: 1, partitions: 1, lateWrites: 1 },
  { ...nothing, pods: 2, crashes: 1, partitions: 1, lateWrites: 1, others: 1 },
  { ...nothing, pods: 2, crashes: 1, others: 2 },
  { ...nothing, pods: 4, migrations: 2, crashes: 1, vm: "with" },
];

/** The configuration that `npm run check:model -- --deep` explores completely. */
export const deep: GrantModelOptions = {
  pods: 3,
  migrations: 2,
  crashes: 1,
  partitions: 1,
  lateWrites: 1,
  others: 1,
  vm: "with",
};

const oneFault = { ...nothing, pods: 2, others: 1 };
const twoFaults = { ...nothing, pods: 2, others: 2 };
const moved = { ...nothing, pods: 2, migrations: 1 } as const;
const movedThenCrash = { ...moved, pods: 3, crashes: 1, vm: "with" } as const;
const movedTwice = { ...nothing, pods: 4, migrations: 2, crashes: 1, vm: "with" } as const;

/** For each guard, the smallest configuration in which the check finds what happens without it. */
export const guardConfigurations: Readonly<Record<AnyGuard, GrantModelOptions>> = {
  readable: oneFault,
  "list-is-live": twoFaults,
  "listed-ended": oneFault,
  "remembered-ended": twoFaults,
  "remember-first": twoFaults,
  "granted-pod": movedThenCrash,
  "one-incarnation": oneFault,
  "holder-ended": oneFault,
  "target-ended": movedThenCrash,
  "proof-kind": oneFault,
  "proof-names-container": oneFault,
  "status-known": oneFault,
  "seen-populated": { ...twoFaults, crashes: 1 },
  "same-machine": { ...oneFault, partitions: 1 },
  "other-boot": oneFault,
  "fence-names-boot": oneFault,
  "fence-not-ready": oneFault,
  "one-handover": movedTwice,
  "source-runs": { ...movedThenCrash, crashes: 2 },
  "own-decision": { ...movedThenCrash, migrations: 2 },
  "target-claims": { ...moved, others: 1 },
  "claim-needs-release": moved,
  "never-switched": moved,
  "begun-here": { ...moved, crashes: 1, others: 1 },
  "first-decision": moved,
  "perform-answered": { ...moved, crashes: 1 },
  "finish-answered": moved,
  "commit-before-switch": moved,
  "commit-known": { ...moved, others: 1 },
  "resume-own-release": movedTwice,
  "resume-after-abort": moved,
  "release-known": moved,
  "handover-stays": moved,
  "destroy-live-read": oneFault,
  "destroy-unnamed": oneFault,
  "forget-unnamed": { ...oneFault, crashes: 1 },
  "compare-and-swap": oneFault,
  "one-agent": { ...moved, others: 1 },
};

/** Whether everything that can happen in one configuration can also happen in another. */
export function covers(large: GrantModelOptions, small: GrantModelOptions): boolean {
  const budgets = ["pods", "migrations", "crashes", "partitions", "lateWrites", "others"] as const;
  return (
    budgets.every((budget) => large[budget] >= small[budget]) &&
    (large.vm === undefined || large.vm === small.vm)
  );
}

/** A configuration in words. */
export function configurationText(options: GrantModelOptions): string {
  const { pods, migrations, crashes, partitions, lateWrites, others, vm } = options;
  const whose = vm === undefined ? "with and without a VM" : `${vm} a VM`;
  return `2 controllers, ${pods} Pods, ${migrations} migrations, ${crashes} crashes, ${partitions} partitions, ${lateWrites} late writes, ${others} other faults, ${whose}`;
}
