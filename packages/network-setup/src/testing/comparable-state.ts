import type { PodNetworkState } from "../apply/discover.ts";

/**
 * A namespace's state without indexes, which may differ. Lifetimes and counters are not read at
 * all.
 */
export function comparableState({ nics, settings }: PodNetworkState): unknown {
  const links = nics.map(({ index: _, master, routes, ...nic }) => ({
    ...nic,
    master: nics.find(({ index }) => index === master)?.name,
    // The kernel lists routes by destination; equal ones may swap places.
    routes: routes.map((route) => JSON.stringify(route)).sort(),
  }));
  return { links: links.sort((a, b) => a.name.localeCompare(b.name)), settings };
}
