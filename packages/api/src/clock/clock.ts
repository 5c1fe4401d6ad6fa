/** A source of time; tests and simulations pass their own. */
export interface Clock {
  /** Milliseconds since some moment. Never goes back. */
  now(): number;
  setTimeout(callback: () => void, milliseconds: number): unknown;
  clearTimeout(timer: unknown): void;
  /** Lets the process end although this timer is set. A clock without a process need not implement it. */
  unref?(timer: unknown): void;
}

// What Node and browsers both have; this package is built with the types of neither.
declare const performance: { now(): number };
declare function setTimeout(callback: () => void, milliseconds: number): unknown;
declare function clearTimeout(timer: unknown): void;

/** The clock of this process. */
export const realClock: Clock = {
  now: () => performance.now(),
  setTimeout: (callback, milliseconds) => setTimeout(callback, milliseconds),
  clearTimeout: (timer) => clearTimeout(timer),
  unref: (timer) => (timer as { unref?(): void }).unref?.(),
};

/** The date and time of this host, for people and other hosts to read. */
export function wallTime(): Date {
  return new Date();
}
