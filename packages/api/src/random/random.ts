/** A source of random numbers; tests and simulations pass their own. */
export interface Random {
  /** From 0 inclusive to 1 exclusive. Not for secrets. */
  number(): number;
  /** A version 4 UUID. */
  uuid(): string;
}

// Node and browsers both have it; this package is built with the types of neither.
declare const crypto: { randomUUID(): string };

/** The random numbers of this process. */
export const realRandom: Random = {
  number: () => Math.random(),
  uuid: () => crypto.randomUUID(),
};
