import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** How many copies of a guest ran at the same time, on all nodes of the host, while it was watched. */
export interface WatchedCopies extends AsyncDisposable {
  /** The most copies that any guest of the namespace had at once. */
  readonly most: number;
  /** The number of samples. */
  readonly looks: number;
}

/** The guests of a namespace that run now, one name per QEMU. Nodes are namespaces, so this host sees all processes. */
export function runningGuests(namespace: string): readonly string[] {
  const found = readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      if (!/^[^\0]*qemu-system/.test(line)) return [];
      const [, name] = /\0guest=([^,\0]+),/.exec(line) ?? [];
      return name?.startsWith(`${namespace}_`) ? [name.slice(namespace.length + 1)] : [];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
  return found.sort();
}

/**
 * Milliseconds between two looks at all processes of the host. A second copy of these guests would run for seconds: it
 * takes as long to boot.
 */
const interval = 250;

/** Counts the copies of each guest of a namespace until it is disposed of. */
export function watchCopies(namespace: string): WatchedCopies {
  const stop = new AbortController();
  const seen = { most: 0, looks: 0 };
  const watch = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const names = runningGuests(namespace);
      for (const name of names) {
        seen.most = Math.max(seen.most, names.filter((each) => each === name).length);
      }
      seen.looks++;
      await sleep(interval);
    }
  };
  const watching = watch();
  return {
    get most() {
      return seen.most;
    },
    get looks() {
      return seen.looks;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await watching;
    },
  };
}
