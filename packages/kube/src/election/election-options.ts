import { hostname } from "node:os";
import { type Clock, realClock, wallTime } from "@virtkit/api/clock";
import { type Log, type Metrics, noMetrics, type Observers, silentLog } from "@virtkit/api/observe";
import { type Random, realRandom } from "@virtkit/api/random";
import type { KubeClient } from "../client/kube-client.ts";
import { KubeError } from "../client/kube-error.ts";
import { LeaseObservations } from "./lease-observations.ts";

/** Options of an `Election`. Times are in milliseconds. */
export interface ElectionOptions extends Observers {
  readonly client: KubeClient;
  /** The lease: all candidates name the same one. */
  readonly namespace: string;
  readonly name: string;
  /** Identifies this process, never another one, and never a later run of it. By default the host's name and a UUID. */
  readonly identity?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** How long others wait after a renewal; whole seconds. By default 15,000. */
  readonly leaseDuration?: number | undefined;
  /** The work is asked to end this long before others can begin: the time that it has to end. By default 5,000. */
  readonly margin?: number | undefined;
  /** Between renewals, and between the looks of a candidate. By default 2,000. */
  readonly renewEvery?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly wall?: (() => Date) | undefined;
  readonly random?: Random | undefined;
  /** What has been seen of leases so far, if somebody else looks at them as well. */
  readonly observations?: LeaseObservations | undefined;
}

/** {@link ElectionOptions} with everything decided. */
export interface ElectionSettings {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly leaseDuration: number;
  readonly margin: number;
  readonly renewEvery: number;
  readonly clock: Clock;
  readonly wall: () => Date;
  readonly random: Random;
  readonly observations: LeaseObservations;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Fills in the defaults. Throws a `KubeError` if the times do not go together. */
export function electionSettings(options: ElectionOptions): ElectionSettings {
  const clock = options.clock ?? realClock;
  const random = options.random ?? realRandom;
  const settings = {
    client: options.client,
    namespace: options.namespace,
    name: options.name,
    identity: options.identity ?? `${hostname()}_${random.uuid()}`,
    labels: options.labels ?? {},
    leaseDuration: options.leaseDuration ?? 15_000,
    margin: options.margin ?? 5_000,
    renewEvery: options.renewEvery ?? 2_000,
    clock,
    wall: options.wall ?? wallTime,
    random,
    observations: options.observations ?? new LeaseObservations(clock),
    log: options.log ?? silentLog,
    metrics: options.metrics ?? noMetrics,
  };
  checkTimes(settings);
  return settings;
}

function checkTimes({ leaseDuration, margin, renewEvery }: ElectionSettings): void {
  const refuse = (path: string, message: string): never => {
    throw new KubeError("KUBE_INPUT_INVALID", `${path} ${message}`, { path });
  };
  if (!(leaseDuration >= 1_000 && leaseDuration % 1_000 === 0)) {
    refuse("leaseDuration", `is ${leaseDuration}; it must be whole seconds, in milliseconds`);
  }
  if (!(margin > 0 && margin < leaseDuration)) {
    refuse("margin", `is ${margin}; it must be more than 0 and less than leaseDuration`);
  }
  if (!(renewEvery > 0 && renewEvery * 2 <= leaseDuration - margin)) {
    refuse("renewEvery", `is ${renewEvery}; twice that must fit into leaseDuration - margin`);
  }
}
