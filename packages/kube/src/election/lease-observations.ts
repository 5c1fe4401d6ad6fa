import type { Clock } from "@virtkit/api/clock";
import type { Lease } from "./lease.ts";

/**
 * Since when a lease has been seen unchanged, by this process's own clock: the clocks of other hosts are not
 * trusted. A holder that renewed before it was seen did so earlier; its lease is over no later than what is
 * computed here.
 */
export class LeaseObservations {
  readonly #seen = new Map<string, { readonly version: string; readonly at: number }>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes in a lease that the server has just returned. Returns for how many milliseconds it has not changed. */
  see({ metadata: { namespace, name, uid, resourceVersion } }: Lease): number {
    const key = `${namespace}/${name}`;
    const version = `${uid}/${resourceVersion}`;
    const now = this.#clock.now();
    const known = this.#seen.get(key);
    if (known?.version === version) return now - known.at;
    this.#seen.set(key, { version, at: now });
    return 0;
  }

  /** Forgets leases that are gone. */
  keep(isThere: (key: string) => boolean): void {
    for (const key of this.#seen.keys()) if (!isThere(key)) this.#seen.delete(key);
  }
}
