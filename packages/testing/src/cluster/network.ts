/** The name of the API server in a {@link Network}. */
export const apiServerPart = "api-server";

/**
 * Who can reach whom. Parts are `api-server`, the nodes and the actors by their names, and `node agent NODE`,
 * `kubelet NODE` for one process of a node.
 */
export class Network {
  readonly #cuts = new Set<string>();
  readonly #waiting = new Set<() => void>();

  /** Parts two parts: what one sends does not arrive at the other. */
  cut(one: string, other: string): void {
    this.#cuts.add(pairOf(one, other));
    this.#changed();
  }

  /** Joins two parts again. */
  mend(one: string, other: string): void {
    this.#cuts.delete(pairOf(one, other));
    this.#changed();
  }

  /** Joins all again. */
  mendAll(): void {
    this.#cuts.clear();
    this.#changed();
  }

  /** Whether two parts cannot reach each other. A part may have several names: a process belongs to its node. */
  isCut(one: readonly string[], other: readonly string[]): boolean {
    if (this.#cuts.size === 0) return false;
    return one.some((from) => other.some((to) => this.#cuts.has(pairOf(from, to))));
  }

  /** Calls back after each change, until it is stopped. */
  follow(tell: () => void): () => void {
    this.#waiting.add(tell);
    return () => this.#waiting.delete(tell);
  }

  #changed(): void {
    for (const tell of [...this.#waiting]) tell();
  }
}

function pairOf(one: string, other: string): string {
  return one < other ? `${one}\n${other}` : `${other}\n${one}`;
}
