import type { Random } from "@virtkit/api/random";

/** Random numbers from a seed: the same seed always gives the same numbers. Not for secrets. */
export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    // Seeds that differ by one must not give numbers that do: mix before the first use.
    this.#state = mix(seed >>> 0);
  }

  number(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    return mix(this.#state) / 2 ** 32;
  }

  uuid(): string {
    const hex = Array.from({ length: 32 }, () => Math.floor(this.number() * 16).toString(16));
    hex[12] = "4";
    hex[16] = "89ab"[Math.floor(this.number() * 4)] ?? "8";
    const text = hex.join("");
    const cuts = [0, 8, 12, 16, 20, 32];
    return cuts
      .slice(1)
      .map((end, index) => text.slice(cuts[index], end))
      .join("-");
  }

  /** A whole number from 0 to one below the bound. */
  below(bound: number): number {
    return Math.floor(this.number() * bound);
  }

  /** Another random source that this one determines: draws from it do not disturb the rest. */
  fork(): SeededRandom {
    return new SeededRandom(Math.floor(this.number() * 2 ** 32));
  }
}

/** Spreads the bits of a 32-bit number: the finisher of the generator known as mulberry32. */
function mix(value: number): number {
  let t = value;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return (t ^ (t >>> 14)) >>> 0;
}
