import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import type { KubeClient } from "@virtkit/kube";
import { type FoundProjects, installedProjects } from "./installed-projects.ts";

/** Options of {@link projectsChange}. */
export interface ProjectsChangeOptions {
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  /** Milliseconds between questions. By default a minute. */
  readonly every?: number;
}

/**
 * Waits until other projects are installed than were. Caches are made once: whoever runs controllers starts them anew
 * then, as KubeVirt's do. Answers false where the signal came first; a question without an answer changes nothing.
 */
export async function projectsChange(
  client: KubeClient,
  installed: FoundProjects,
  { signal, clock = realClock, every = 60_000 }: ProjectsChangeOptions,
): Promise<boolean> {
  for (;;) {
    // It ends early with the signal, which is looked at next.
    await sleep(clock, every, signal).catch(() => {});
    if (signal.aborted) return false;
    // The server is out of reach, which the watches tell; the next question may find it.
    const now = await installedProjects(client, { signal }).catch(() => installed);
    if (now.cdi !== installed.cdi || now.multus !== installed.multus) return true;
  }
}
