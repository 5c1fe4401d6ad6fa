import { isNotFound } from "@virtkit/kube";

/** Rounds in which a rule may ask for more; none asks for more than three things one after the other. */
const maxRounds = 8;

/**
 * Lets rules that do not wait look at the cluster as it is now, without a cache. A rule that asks for something not read
 * yet is told that there is nothing; the read is made, and the rule is run anew with all that it has asked for.
 */
export class LiveReads {
  readonly #known = new Map<string, unknown>();
  readonly #wanted = new Map<string, () => Promise<unknown>>();

  /** What is known by this key; `undefined` where it does not exist, or is read before the next round. */
  ask<T>(key: string, read: () => Promise<T>): T | undefined {
    if (this.#known.has(key)) return this.#known.get(key) as T | undefined;
    this.#wanted.set(key, read);
    return undefined;
  }

  /**
   * Runs a rule until it has asked for nothing new; at once where it asks for nothing, as most do. A read that fails
   * rejects, but for what does not exist.
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
    throw new Error(`a rule asked for something new ${maxRounds} times`);
  }
}

/** What a read gives; `undefined` for what does not exist, also where its kind is not installed. */
export async function existing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isNotFound(error) || (error as { status?: unknown }).status === 404) return undefined;
    throw error;
  }
}
