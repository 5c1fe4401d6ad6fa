/** Objects by a value of theirs; each has any number of values. */
export class ObjectIndex<T> {
  readonly #valuesOf: (object: T) => readonly string[];
  readonly #keys = new Map<string, Set<string>>();

  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  /** The keys of the objects that have this value. */
  keys(value: string): Iterable<string> {
    return this.#keys.get(value) ?? [];
  }

  replace(key: string, old: T | undefined, object: T | undefined): void {
    const before = old === undefined ? [] : this.#valuesOf(old);
    const after = object === undefined ? [] : this.#valuesOf(object);
    for (const value of before) if (!after.includes(value)) this.#remove(value, key);
    for (const value of after) this.#add(value, key);
  }

  #add(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys) keys.add(key);
    else this.#keys.set(value, new Set([key]));
  }

  #remove(value: string, key: string): void {
    const keys = this.#keys.get(value);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(value);
  }
}
