import type { KnownList, ObjectSource } from "@virtkit/controller/plan";
import { type KubeClient, KubeError, type KubeObject } from "@virtkit/kube";
import type { RecordedCluster } from "./recorded-cluster.ts";

type Indexes<Index extends string> = Readonly<Record<Index, (object: never) => readonly string[]>>;

/** The objects of a kind in a recorded cluster, as the informer cache of a controller answers. */
export function recordedSource<T, Index extends string = never>(
  cluster: RecordedCluster,
  plural: string,
  indexes?: Indexes<Index>,
): ObjectSource<T, Index> {
  const all = cluster.cached(plural);
  const complete = (objects: readonly KubeObject[]): KnownList<T> => ({
    state: "complete",
    objects: objects as unknown as readonly T[],
  });
  return {
    get: ({ namespace = "", name }) => {
      const found = all.find(
        ({ metadata }) => metadata.name === name && (metadata.namespace ?? "") === namespace,
      );
      return found ? { state: "present", object: found as T } : { state: "absent" };
    },
    list: ({ namespace } = {}) =>
      complete(
        all.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
      ),
    byIndex: (index, value) =>
      complete(all.filter((object) => indexes?.[index](object as never).includes(value))),
  };
}

/** Live reads of a recorded cluster. A selector must be one label with one value. */
export function recordedReads(cluster: RecordedCluster): Pick<KubeClient, "get" | "list"> {
  return {
    get: async ({ plural }, { namespace = "", name }) => {
      const found = cluster
        .live(plural)
        .find(({ metadata }) => metadata.name === name && (metadata.namespace ?? "") === namespace);
      if (found) return found as never;
      throw new KubeError("KUBE_STATUS", `${plural} ${name} does not exist`, {
        status: 404,
        reason: "NotFound",
      });
    },
    list: async ({ plural }, { namespace, labelSelector } = {}) => {
      const [label = "", value] = (labelSelector ?? "").split("=");
      const items = cluster
        .live(plural)
        .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
        .filter(({ metadata }) => label === "" || metadata.labels?.[label] === value);
      return { items, metadata: {} } as never;
    },
  };
}
