import type { KubeObject } from "@virtkit/kube";

/** The name of an object within its resource. */
export function objectKey({
  namespace = "",
  name = "",
}: {
  namespace?: string;
  name?: string;
}): string {
  return `${namespace}/${name}`;
}

/** The objects of one resource as they are, in the order of their names as a server lists them. */
export class ObjectTable {
  readonly #objects = new Map<string, KubeObject>();
  /** The keys in order; objects change much more often than they come and go. */
  #keys: readonly string[] | undefined;

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  set(object: KubeObject): void {
    const key = objectKey(object.metadata);
    if (!this.#objects.has(key)) this.#keys = undefined;
    this.#objects.set(key, object);
  }

  delete(key: string): void {
    this.#objects.delete(key);
    this.#keys = undefined;
  }

  list(): readonly KubeObject[] {
    this.#keys ??= [...this.#objects.keys()].sort((one, other) => (one < other ? -1 : 1));
    return this.#keys.map((key) => this.#objects.get(key) as KubeObject);
  }
}
