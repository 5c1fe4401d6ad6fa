import type { Clock } from "@virtkit/api/clock";
import type { Observers } from "@virtkit/api/observe";
import type { Random } from "@virtkit/api/random";
import type { Cache } from "../cache/cache.ts";
import type { CacheChange } from "../cache/cache-change.ts";
import type { KubeClient } from "../client/kube-client.ts";
import type { KubeObject, OwnerReference } from "../client/kube-object.ts";
import { apiVersionOf, type ObjectName, type Resource } from "../client/resource.ts";
import type { Priority } from "../queue/work-queue.ts";
import { Reflector } from "../reflector/reflector.ts";
import type { ReflectorOptions } from "../reflector/reflector-options.ts";

/** Which changes of a resource a controller sees, and which objects they concern. */
export interface WatchSpec<T extends KubeObject> {
  /** The objects to reconcile when this one changes; by default itself. After an update: of both states. */
  readonly keys?: ((object: T) => readonly ObjectName[]) | undefined;
  /** Changes that nobody needs to look at; by default there are none. */
  readonly predicate?: ((change: CacheChange<T>) => boolean) | undefined;
  /**
   * The priority of changes; objects that exist at the start have low priority, so that changes come first.
   * By default `normal`.
   */
  readonly priority?: Priority | undefined;
  /** How the cache is fed; `false` if somebody else does it. */
  readonly follow?: false | Omit<ReflectorOptions<T>, "signal"> | undefined;
}

/** What a running {@link Watch} receives. */
export interface WatchRun extends Observers {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly enqueue: (object: ObjectName, priority: Priority) => void;
}

/** A running watch. */
export interface RunningWatch {
  /** For messages. */
  readonly name: string;
  /** Resolves once everything that is there has been seen in this run. */
  readonly synced: Promise<void>;
  /** Resolves once the signal has ended it. */
  readonly ended: Promise<void>;
  /** Milliseconds since the server was last heard from. */
  blindFor(): number;
}

/** A source of a controller's work. */
export interface Watch {
  start(run: WatchRun): RunningWatch;
}

/** Watches the objects in a cache, and feeds the cache unless `follow` is false. */
export function watch<T extends KubeObject>(
  cache: Cache<T, string>,
  spec: WatchSpec<T> = {},
): Watch {
  return { start: (run) => startWatch(cache, spec, run) };
}

/** For `keys`: the object that controls this one, if it is of that resource. */
export function controllerOf<T extends KubeObject>(
  owner: Resource,
): (object: T) => readonly ObjectName[] {
  const isMeant = ({ controller, kind, apiVersion }: OwnerReference): boolean =>
    controller === true && kind === owner.kind && groupIn(apiVersion) === owner.group;
  return ({ metadata: { namespace, ownerReferences = [] } }) =>
    ownerReferences
      .filter(isMeant)
      .map(({ name }) => (owner.namespaced && namespace ? { namespace, name } : { name }));
}

/** An owner of another version of the same resource is the same owner. */
function groupIn(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

function startWatch<T extends KubeObject>(
  cache: Cache<T, string>,
  { keys = itself, predicate, priority = "normal", follow = {} }: WatchSpec<T>,
  { client, enqueue, signal, ...run }: WatchRun,
): RunningWatch {
  let hasSynced = false;
  const unsubscribe = cache.subscribe((change) => {
    if (predicate && !predicate(change)) return;
    for (const name of concerned(change, keys)) enqueue(name, hasSynced ? priority : "low");
  });
  signal.addEventListener("abort", unsubscribe, { once: true });
  const name = `${cache.resource.plural} (${apiVersionOf(cache.resource)})`;
  const setSynced = (): void => {
    hasSynced = true;
  };
  if (follow === false) {
    const synced = cache.synced({ signal }).then(setSynced);
    return { name, synced, ended: Promise.resolve(), blindFor: () => 0 };
  }
  const reflector = new Reflector(client, cache.resource, { ...run, ...follow, signal });
  const { synced, ended } = feed(cache, reflector);
  return { name, synced: synced.then(setSynced), ended, blindFor: () => reflector.blindFor() };
}

/**
 * Feeds a cache. `synced` counts from now on: a cache that an earlier run has fed still says that it has
 * synced, but its content is old.
 */
function feed<T extends KubeObject>(
  cache: Cache<T, string>,
  reflector: Reflector<T>,
): { readonly synced: Promise<void>; readonly ended: Promise<void> } {
  let setSynced = (): void => {};
  const synced = new Promise<void>((resolve) => {
    setSynced = resolve;
  });
  const follow = async (): Promise<void> => {
    for await (const event of reflector) {
      cache.handle(event);
      if (event.type === "initDone") setSynced();
    }
  };
  return { synced, ended: follow() };
}

/** Each once: twice the same would be reconciled twice, for a worker may have taken it in between. */
function concerned<T>(
  { old, object }: CacheChange<T>,
  keys: (object: T) => readonly ObjectName[],
): readonly ObjectName[] {
  const after = object ? keys(object) : [];
  const before = old ? keys(old) : [];
  return [...after, ...before.filter((name) => !after.some((other) => isSame(name, other)))];
}

function isSame(one: ObjectName, other: ObjectName): boolean {
  return one.name === other.name && one.namespace === other.namespace;
}

function itself({ metadata: { namespace, name = "" } }: KubeObject): readonly ObjectName[] {
  return [namespace === undefined ? { name } : { namespace, name }];
}
