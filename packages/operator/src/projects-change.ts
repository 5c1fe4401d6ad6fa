import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import type { KubeClient } from "@virtkit/kube";
import { type FoundProjects, installedProjects } from "./installed-projects.ts";

/** Options of {@link projectsChange}. */
export interface ProjectsChangeOptions {
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  /** Milliseconds between checks. By default a minute. */
  readonly every?: number;
}

/**
 * Waits until the set of installed projects changes. Caches are created once, so controllers must then be
 * restarted, as KubeVirt's are. Resolves with false if the signal came first; a check without an answer changes
 * nothing.
 */
export async function projectsChange(
  client: KubeClient,
  installed: FoundProjects,
  { signal, clock = realClock, every = 60_000 }: ProjectsChangeOptions,
): Promise<boolean> {
  for (;;) {
    // It ends early with the signal, which is checked next.
    await sleep(clock, every, signal).catch(() => {});
    if (signal.aborted) return false;
    // The server is unreachable, which the watches report; the next check may succeed.
    const now = await installedProjects(client, { signal }).catch(() => installed);
    if (now.cdi !== installed.cdi || now.multus !== installed.multus) return true;
  }
}
