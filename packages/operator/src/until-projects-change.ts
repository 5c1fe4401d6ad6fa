import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import type { KubeClient } from "@virtkit/kube";
import { type FoundProjects, installedProjects } from "./installed-projects.ts";

/** Options of {@link untilProjectsChange}. */
export interface UntilProjectsChangeOptions {
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  /** Milliseconds between checks. By default a minute. */
  readonly every?: number;
}

/**
 * Aborts with the signal, or as soon as the set of installed projects changes: caches are created once, so controllers must
 * then be restarted, as KubeVirt's are. Give it to everything that the process does, so that nothing keeps the process alive.
 * A check without an answer changes nothing.
 *
 * @example
 * const signal = untilProjectsChange(client, installed, { signal: untilSignal() });
 * await controllers.run({ signal });
 */
export function untilProjectsChange(
  client: KubeClient,
  installed: FoundProjects,
  { signal, clock = realClock, every = 60_000 }: UntilProjectsChangeOptions,
): AbortSignal {
  const ending = new AbortController();
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      // It ends early with the signal, which is checked next.
      await sleep(clock, every, signal).catch(() => {});
      if (signal.aborted) break;
      // The server is unreachable, which the watches report; the next check may succeed.
      const now = await installedProjects(client, { signal }).catch(() => installed);
      if (now.cdi !== installed.cdi || now.multus !== installed.multus) break;
    }
  };
  signal.addEventListener("abort", () => ending.abort(signal.reason), { once: true });
  void watch().then(() => ending.abort());
  return ending.signal;
}
