import type { VirtualMachineInstance } from "@virtkit/api/schema";

/** Seconds that a guest has to shut down, unless it says otherwise. */
const defaultSeconds = 30;

/** How long a guest has to shut down before it is stopped. */
export function gracePeriodSeconds({ spec }: VirtualMachineInstance): number {
  return spec.terminationGracePeriodSeconds ?? defaultSeconds;
}
