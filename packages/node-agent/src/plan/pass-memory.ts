import type { BackOff } from "./hotplug-back-off.ts";
import type { RetryState } from "./io-error-retry.ts";

/** What one pass over a VMI leaves for the next. Plain data; losing it only causes an early attempt. */
export interface PassMemory {
  readonly ioError?: RetryState;
  readonly hostDevices?: BackOff;
}
