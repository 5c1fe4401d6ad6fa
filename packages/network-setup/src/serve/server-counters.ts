import { type Metrics, noMetrics } from "@virtkit/api/observe";

/** Counters of a server; they only grow. */
export interface ServerCounters {
  readonly received: number;
  readonly answered: number;
  /** Well-formed, but for nobody here: another MAC, or a type without an answer. */
  readonly ignored: number;
  /** Not well-formed: dropped. */
  readonly malformed: number;
  /** Answers that the kernel did not take. */
  readonly failed: number;
}

/** A server of one guest. Disposing of it ends it and closes its socket. */
export interface GuestServer extends AsyncDisposable {
  readonly counters: ServerCounters;
}

/** Counters, and what adds one to them and to the metrics. */
export interface Counting {
  readonly counters: ServerCounters;
  count(outcome: keyof ServerCounters): void;
}

/** Starts counting at 0. The guest decides how often, so what is counted here is not logged. */
export function newCounters(server: string, metrics: Metrics = noMetrics): Counting {
  const counters = { received: 0, answered: 0, ignored: 0, malformed: 0, failed: 0 };
  return {
    counters,
    count: (outcome) => {
      counters[outcome]++;
      metrics.count("network_server_datagrams", { server, outcome });
    },
  };
}
