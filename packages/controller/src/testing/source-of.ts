import type { ObjectName } from "@virtkit/kube";
import type { ObjectSource } from "../plan/object-source.ts";

interface Named {
  readonly metadata?: { readonly namespace?: string; readonly name?: string } | undefined;
}

/** Objects as a cache has them; one that has not synced does not know what it lacks. */
export function sourceOf<T extends Named, Index extends string = never>(
  objects: readonly T[],
  indexes: Readonly<Record<Index, (object: T) => readonly string[]>> = {} as never,
  hasSynced = true,
): ObjectSource<T, Index> {
  const listing = (found: readonly T[]) =>
    hasSynced
      ? ({ state: "complete", objects: found } as const)
      : ({ state: "incomplete" } as const);
  return {
    get: ({ namespace, name }: ObjectName) => {
      const object = objects.find(
        ({ metadata }) => metadata?.name === name && metadata?.namespace === namespace,
      );
      if (object) return { state: "present", object };
      return { state: hasSynced ? "absent" : "unknown" };
    },
    list: ({ namespace } = {}) =>
      listing(objects.filter(({ metadata }) => !namespace || metadata?.namespace === namespace)),
    byIndex: (index, value) =>
      listing(objects.filter((each) => indexes[index](each).includes(value))),
  };
}
