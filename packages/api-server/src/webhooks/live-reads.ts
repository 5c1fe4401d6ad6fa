import { isNotFound } from "@virtkit/kube";

/** Rounds in which a rule may ask for more; no rule asks for more than three things in sequence. */
const maxRounds = 8;

/**
 * Lets synchronous rules see the cluster as it is now, without a cache. A rule that asks for something not yet read
 * gets nothing; then the read is made, and the rule runs again with everything it has asked for.
 */
export class LiveReads {
  readonly #known = new Map<string, unknown>();
  readonly #wanted = new Map<string, () => Promise<unknown>>();

  /** What is known by this key; `undefined` if it does not exist, or is read before the next round. */
  ask<T>(key: string, read: () => Promise<T>): T | undefined {
    if (this.#known.has(key)) return this.#known.get(key) as T | undefined;
    this.#wanted.set(key, read);
    return undefined;
  }

  /**
   * Runs a rule until it asks for nothing new; at once if it asks for nothing, as most rules do. Rejects if a read
   * fails, except for objects that do not exist.
   */
  settle<T>(run: () => T): T | Promise<T> {
    const result = run();
    return this.#wanted.size === 0 ? result : this.#readAndRun(run);
  }

  async #readAndRun<T>(run: () => T): Promise<T> {
    for (let round = 1; round < maxRounds; round++) {
      const wanted = [...this.#wanted];
      this.#wanted.clear();
      await Promise.all(
        wanted.map(async ([key, read]) => {
          this.#known.set(key, await existing(read));
        }),
      );
      const result = run();
      if (this.#wanted.size === 0) return result;
    }
    throw new Error(`a rule asked for new objects ${maxRounds} times`);
  }
}

/** The result of a read; `undefined` if the object does not exist, or its kind is not installed. */
export async function existing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isNotFound(error) || (error as { status?: unknown }).status === 404) return undefined;
    throw error;
  }
}
