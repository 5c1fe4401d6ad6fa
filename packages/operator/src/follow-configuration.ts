import { isDeepStrictEqual } from "node:util";
import { ConfigStore } from "@virtkit/api/config";
import { names as namesOf } from "@virtkit/api/names";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { KubeVirt } from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import { defineResource, type KubeClient, type KubeObject } from "@virtkit/kube";
import { Cache } from "@virtkit/kube/cache";
import { Reflector } from "@virtkit/kube/reflector";

/** Options of {@link followConfiguration}. */
export interface FollowConfigurationOptions extends Observers {
  readonly client: KubeClient;
  /** The namespace of the platform, with its KubeVirt object. */
  readonly namespace: string;
  /** Stops it. */
  readonly signal: AbortSignal;
  /** The root of API groups. Default `kubevirt.io`. */
  readonly group?: string;
}

/**
 * The configuration of a cluster, as in its KubeVirt object now and whenever that changes. Resolves once the
 * object was looked up; without one the defaults apply. An invalid configuration leaves the last valid one in
 * place, and the reason is logged. Of several objects the oldest counts.
 *
 * @example
 * const store = await followConfiguration({ client, namespace: "kubevirt", signal });
 * store.current.gate("Snapshot");
 */
export async function followConfiguration(
  options: FollowConfigurationOptions,
): Promise<ConfigStore> {
  const { client, namespace, signal, log, metrics, group } = options;
  const names = namesOf(group === undefined ? {} : { group });
  const store = new ConfigStore({ names });
  const kubevirts = defineResource<KubeObject>({
    ...{ group: names.groups.core, version: "v1", plural: "kubevirts", kind: "KubeVirt" },
  });
  const cache = new Cache<KubeObject>(kubevirts, { namespace });
  let applied: readonly unknown[] | undefined;
  const choose = (): void => {
    const listing = cache.list({ namespace });
    if (listing.state !== "complete") return;
    const [chosen] = [...listing.objects].sort(byAge);
    const parts = configuring(chosen);
    // The status of the installation changes, too, and nobody has to follow that.
    if (isDeepStrictEqual(parts, applied)) return;
    applied = parts;
    const { accepted, problems } = store.update((chosen ?? {}) as KubeVirt);
    if (accepted) return;
    const reasons = problems.map(({ path, message }) => `${path}: ${message}`);
    log?.error({ reasons }, "the configuration is not valid; the last valid one stays in effect");
  };
  const reflector = new Reflector(client, kubevirts, { namespace, signal, log, metrics });
  cache.follow(reflector).catch((error: unknown) => {
    if (signal.aborted) return;
    log?.error({ error: describeError(error) }, "the configuration is no longer followed");
  });
  await cache.synced({ signal });
  choose();
  cache.subscribe(choose);
  return store;
}

/** What the configuration is made from. */
function configuring(kubevirt: KubeObject | undefined): readonly unknown[] {
  const annotations = kubevirt?.metadata.annotations;
  const hasStatus = at(kubevirt, "status") !== undefined;
  const architecture = at(kubevirt, "status", "defaultArchitecture");
  return [annotations, at(kubevirt, "spec"), hasStatus, architecture];
}

function byAge(one: KubeObject, other: KubeObject): number {
  const at = ({ metadata }: KubeObject): string => metadata.creationTimestamp ?? "";
  return at(one).localeCompare(at(other));
}
