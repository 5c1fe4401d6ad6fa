import type { Clock } from "@virtkit/domain-manager/libvirt";

export type { Clock };

/** The time of this process. */
export const realClock: Clock = {
  now: () => performance.now(),
  setTimeout: (callback, milliseconds) => setTimeout(callback, milliseconds),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};
