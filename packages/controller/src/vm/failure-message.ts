import type { VirtualMachineCondition, VirtualMachineStatus } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { conditionsOf, findCondition, type PlanFailure } from "@virtkit/api/status";
import { timestamp } from "../plan/timestamp.ts";

/**
 * For this long, in milliseconds, a message stays: a failure that is put in other words at each attempt costs no more than
 * its retries.
 */
const leastStay = 10_000;

/**
 * The status with the message of the present failure. One failure may follow another with the same reason: first a source
 * does not exist, then nobody may read it. The condition keeps the time of the first failure; `lastProbeTime` is that of the
 * message.
 */
export function withFailureMessage(
  status: VirtualMachineStatus,
  failure: PlanFailure | undefined,
  now: number,
): VirtualMachineStatus {
  const conditions = conditionsOf<VirtualMachineCondition>({ status });
  const present = findCondition(conditions, "Failure");
  if (!failure || !present || present.message === failure.message) return status;
  const times = [present.lastProbeTime, present.lastTransitionTime].map((time) =>
    Date.parse(text(time)),
  );
  if (times.some((time) => now - time < leastStay)) return status;
  const told = { ...present, message: failure.message, lastProbeTime: timestamp(now) };
  return { ...status, conditions: conditions.map((each) => (each === present ? told : each)) };
}
