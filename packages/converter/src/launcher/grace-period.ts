import type { VirtualMachineInstance } from "@virtkit/api/schema";

/** Seconds that a guest has to shut down by default. */
const defaultSeconds = 30;

/** How long a guest has to shut down before it is stopped. */
export function gracePeriodSeconds({ spec }: VirtualMachineInstance): number {
  return spec.terminationGracePeriodSeconds ?? defaultSeconds;
}
