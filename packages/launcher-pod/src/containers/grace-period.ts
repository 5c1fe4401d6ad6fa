import type { VirtualMachineInstanceSpec } from "@virtkit/api/schema";

const defaultSeconds = 30;

/** Added twice: the guest should end before the launcher kills it, and the launcher before the kubelet does. */
const paddingSeconds = 15;

/** How long the launcher waits for the guest to shut down. */
export function launcherGracePeriod(spec: VirtualMachineInstanceSpec): number {
  return (spec.terminationGracePeriodSeconds ?? defaultSeconds) + paddingSeconds;
}

/** How long the kubelet waits for the Pod to shut down. */
export function podGracePeriod(spec: VirtualMachineInstanceSpec): number {
  return launcherGracePeriod(spec) + paddingSeconds;
}
