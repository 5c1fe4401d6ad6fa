import type { KubeObject, ObjectName } from "@virtkit/kube";
import type { Cache } from "@virtkit/kube/cache";

/** The kinds of objects that somebody watches. */
export const kinds = [
  "virtualmachineinstances",
  "virtualmachineinstancemigrations",
  "pods",
  "nodes",
] as const;

/** One of {@link kinds}. */
export type WatchedKind = (typeof kinds)[number];

/** Objects of one kind, as a process has last seen them: the interface of a `Cache`, without its feed. */
export class SeenObjects {
  #objects: readonly KubeObject[];
  readonly #keeps: (object: KubeObject) => boolean;
  readonly #indexes: Readonly<Record<string, (object: never) => readonly string[]>>;

  constructor(
    keeps: (object: KubeObject) => boolean = () => true,
    indexes: Readonly<Record<string, (object: never) => readonly string[]>> = {},
  ) {
    this.#keeps = keeps;
    this.#indexes = indexes;
    this.#objects = [];
  }

  /** Whether it has seen everything once; an empty cache is not absence. */
  #hasSynced = false;

  /** What the API server has now. */
  see(objects: readonly KubeObject[]): void {
    this.#hasSynced = true;
    this.#objects = objects.filter(this.#keeps);
  }

  get objects(): readonly KubeObject[] {
    return this.#objects;
  }

  get({ name }: ObjectName): ReturnType<Cache<KubeObject>["get"]> {
    const object = this.#objects.find(({ metadata }) => metadata.name === name);
    if (object) return { state: "present", object };
    return { state: this.#hasSynced ? "absent" : "unknown" };
  }

  list(): ReturnType<Cache<KubeObject>["list"]> {
    return this.#listing(this.#objects);
  }

  byIndex(index: string, value: string): ReturnType<Cache<KubeObject>["list"]> {
    const of = this.#indexes[index];
    const objects = this.#objects.filter((object) => of?.(object as never).includes(value));
    return this.#listing(objects);
  }

  #listing(objects: readonly KubeObject[]): ReturnType<Cache<KubeObject>["list"]> {
    return this.#hasSynced
      ? { state: "complete", objects }
      : { state: "incomplete", seen: objects };
  }
}
