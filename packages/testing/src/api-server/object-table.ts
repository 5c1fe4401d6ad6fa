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
  #sorted: readonly KubeObject[] | undefined;

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  set(object: KubeObject): void {
    this.#objects.set(objectKey(object.metadata), object);
    this.#sorted = undefined;
  }

  delete(key: string): void {
    this.#objects.delete(key);
    this.#sorted = undefined;
  }

  list(): readonly KubeObject[] {
    this.#sorted ??= [...this.#objects.entries()]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, object]) => object);
    return this.#sorted;
  }
}
