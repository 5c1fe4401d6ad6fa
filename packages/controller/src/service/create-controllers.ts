import { setMaxListeners } from "node:events";
import { type Clock, realClock, wallTime } from "@virtkit/api/clock";
import { type Names, names as namesOf } from "@virtkit/api/names";
import type { Observers } from "@virtkit/api/observe";
import { type Random, realRandom } from "@virtkit/api/random";
import type { KubeClient, ObjectName } from "@virtkit/kube";
import { objectKey } from "@virtkit/kube/cache";
import { type Controller, createController } from "@virtkit/kube/controller";
import { Election, type ElectionOptions, fencedClient } from "@virtkit/kube/election";
import { EventRecorder } from "@virtkit/kube/writes";
import { clientTarget } from "../plan/client-target.ts";
import type { PlanRunner } from "../plan/run-plan.ts";
import type { VmiPlanConfig } from "../vmi/vmi-plan-config.ts";
import { CacheFeeds } from "./cache-feeds.ts";
import type { ControllerPartMaker, PartContext } from "./controller-part.ts";
import { evacuationPart } from "./evacuation-part.ts";
import { migrationPart } from "./migration-part.ts";
import { nodePart } from "./node-part.ts";
import { planRecorder } from "./plan-recorder.ts";
import { poolPart } from "./pool-part.ts";
import { replicaSetPart } from "./replica-set-part.ts";
import { type InstalledProjects, SharedCaches } from "./shared-caches.ts";
import { UnseenWrites } from "./unseen-writes.ts";
import { vmPart } from "./vm-part.ts";
import { vmiPart } from "./vmi-part.ts";
import { workloadUpdatePart } from "./workload-update-part.ts";

/** Options of {@link createControllers}. */
export interface ControllersOptions extends Observers {
  readonly client: KubeClient;
  /** The present configuration for VMIs; it can change. */
  config(): VmiPlanConfig;
  /** The reconcilers to run. By default {@link standardParts}. */
  readonly parts?: readonly ControllerPartMaker[] | undefined;
  /**
   * The lease that elects one process to work. Without it this process works at once. That is safe,
   * because the run grant is the lock, but it costs refused requests.
   */
  readonly election?: Pick<ElectionOptions, "namespace" | "name" | "identity"> | undefined;
  readonly installed?: InstalledProjects | undefined;
  /** The source of events. By default `virt-controller`, as in KubeVirt. */
  readonly component?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly wall?: (() => Date) | undefined;
}

/**
 * Both signals as one. Every watch listens to it, and Node reports more than ten listeners as a
 * leak.
 */
function either(one: AbortSignal, other: AbortSignal): AbortSignal {
  const signal = AbortSignal.any([one, other]);
  setMaxListeners(0, signal);
  return signal;
}

/** The controllers of a cluster, created by {@link createControllers}. */
export interface Controllers {
  /**
   * The shared caches. They are fed while the controllers run, even while another process leads.
   */
  readonly caches: SharedCaches;
  readonly names: Names;
  /**
   * Watches, leads if it can, and reconciles until the signal is aborted. Rejects if a part breaks.
   */
  run(options: { readonly signal: AbortSignal }): Promise<void>;
  /** The running controllers: none while another process leads. */
  running(): readonly Controller[];
  /** Problems, for a liveness probe; empty if all is well. */
  problems(): readonly string[];
}

/** All reconcilers of this package that need only a cluster. */
export const standardParts: readonly ControllerPartMaker[] = [
  vmPart,
  vmiPart,
  nodePart,
  replicaSetPart,
  poolPart,
  migrationPart,
  evacuationPart,
  workloadUpdatePart,
];

/**
 * Runs reconcilers over one set of caches that holds each kind of object once.
 *
 * @example
 * const controllers = createControllers({ client: inClusterClient(), config: () => ({ cluster, profile }) });
 * await controllers.run({ signal });
 */
export function createControllers(options: ControllersOptions): Controllers {
  const { client, log, metrics, parts = standardParts } = options;
  const clock = options.clock ?? realClock;
  const random = options.random ?? realRandom;
  const wall = options.wall ?? wallTime;
  const names = options.config().cluster?.names ?? namesOf();
  const observers = { ...(log && { log }), ...(metrics && { metrics }) };
  const feeds = new CacheFeeds({ client, clock, random, ...observers });
  const caches = new SharedCaches(feeds, names, options.installed);
  let controllers: readonly Controller[] = [];

  /** The reconcilers, with a client that writes only while this process leads. */
  const assemble = (leading: KubeClient, recorder: EventRecorder): readonly Controller[] => {
    const record = planRecorder(recorder, names);
    const target = clientTarget(leading, { names });
    return parts.map(({ name, make }) => {
      const unseen = new UnseenWrites({ cacheOf: (resource) => feeds.find(resource), clock });
      const runner = (object: ObjectName): PlanRunner & { readonly behindFor: number } => {
        const key = objectKey(object);
        return { target: unseen.target(key, target), record, behindFor: unseen.behindFor(key) };
      };
      const config = () => options.config();
      const shared = { caches, names, config, clock, random, wall, ...observers };
      const context: PartContext = { ...shared, client: leading, runner };
      const { watches, reconcile, concurrency = 4, priority } = make(context);
      const run = { watches, reconcile, concurrency, priority, clock, random, ...observers };
      return createController({ name, client: leading, ...run });
    });
  };

  const work = async (leading: KubeClient, signal: AbortSignal): Promise<void> => {
    const { component = "virt-controller" } = options;
    const told = { component, clock, random, wall, ...observers };
    const recorder = new EventRecorder({ client: leading, ...told });
    const broken = new AbortController();
    const until = either(signal, broken.signal);
    controllers = assemble(leading, recorder);
    try {
      await Promise.all(
        controllers.map(async (controller) => {
          try {
            await controller.run({ signal: until });
          } catch (error) {
            broken.abort(error);
            throw error;
          }
        }),
      );
    } finally {
      controllers = [];
      await recorder.close();
    }
  };

  const lead = async (signal: AbortSignal): Promise<void> => {
    if (!options.election) return await work(client, signal);
    const election = new Election({ client, ...options.election, clock, random, ...observers });
    await election.lead((leadership) => work(fencedClient(client, leadership), leadership.signal), {
      signal,
    });
  };

  return {
    caches,
    names,
    run: async ({ signal }) => {
      const broken = new AbortController();
      const until = either(signal, broken.signal);
      const feeding = feeds.run({ signal: until });
      const leading = lead(until).finally(() => broken.abort());
      feeding.catch((error: unknown) => broken.abort(error));
      const [led, fed] = await Promise.allSettled([leading, feeding]);
      for (const end of [fed, led]) if (end.status === "rejected") throw end.reason;
    },
    running: () => controllers,
    problems: () => [...feeds.problems(), ...controllers.flatMap((each) => each.problems())],
  };
}
