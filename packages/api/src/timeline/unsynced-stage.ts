import type { Stage } from "./stage.ts";

/**
 * Words in a node's failure and the stage that they refer to; the first match counts. A failure of the
 * launcher's own command comes first: what it quotes may mention anything.
 */
const words: readonly (readonly [pattern: RegExp, stage: Stage])[] = [
  [/\bSyncVMI\b/, "domain-defined"],
  [/network/i, "network-bound"],
  [/container ?-?disk|hotplug|kernel ?-?boot|host ?-?disk|virtiofs|mount/i, "prepared"],
  [/\/dev\/|\bdevices?\b|memory lock|memlock|rlimit|cgroup/i, "prepared"],
];

/** The stage at which a node failed to bring up the guest, according to the message: nothing else says it. */
export function unsyncedStage(message: string): Stage {
  return words.find(([pattern]) => pattern.test(message))?.[1] ?? "domain-defined";
}
