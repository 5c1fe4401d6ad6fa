/** What a server has seen; numbers only grow. */
export interface ServerCounters {
  readonly received: number;
  readonly answered: number;
  /** Well-formed, and for nobody here: another MAC, a type without an answer. */
  readonly ignored: number;
  /** Not well-formed: dropped. */
  readonly malformed: number;
  /** Answers that the kernel did not take. */
  readonly failed: number;
}

/** A server of one guest. It ends, and its socket is closed, when it is disposed of. */
export interface GuestServer extends AsyncDisposable {
  readonly counters: ServerCounters;
}

/** Counters that can be written. */
export type MutableCounters = { -readonly [K in keyof ServerCounters]: number };

export function newCounters(): MutableCounters {
  return { received: 0, answered: 0, ignored: 0, malformed: 0, failed: 0 };
}
