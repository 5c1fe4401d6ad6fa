import type { Stage } from "./stage.ts";

/**
 * Words of a node's failure and the stage that they speak of, the first that match. A failure of the
 * launcher's own command comes first: what it quotes may speak of anything.
 */
const words: readonly (readonly [pattern: RegExp, stage: Stage])[] = [
  [/\bSyncVMI\b/, "domain-defined"],
  [/network/i, "network-bound"],
  [/container ?-?disk|hotplug|kernel ?-?boot|host ?-?disk|virtiofs|mount/i, "prepared"],
  [/\/dev\/|\bdevices?\b|memory lock|memlock|rlimit|cgroup/i, "prepared"],
];

/** The stage at which a node failed to bring a VMI to its guest, by the message: it says it in no other way. */
export function unsyncedStage(message: string): Stage {
  return words.find(([pattern]) => pattern.test(message))?.[1] ?? "domain-defined";
}
