import { DomainManagerError } from "../domain-manager-error.ts";

/** More CPUs than a host has; libvirt's own limit of a map. */
const mostCpus = 16_384;

/**
 * A CPU list in libvirt's format, `0-3,^2,8`, as a map: a bit for each CPU, the first in bit 0 of
 * byte 0.
 *
 * @throws DomainManagerError if the list is invalid.
 */
export function cpuMap(list: string): Uint8Array {
  const cpus = new Set<number>();
  for (const part of list.split(",")) {
    const match = /^(\^?)(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim());
    const first = Number(match?.[2]);
    const last = Number(match?.[3] ?? first);
    if (!match || last < first || last >= mostCpus) throw notAList(list);
    for (let cpu = first; cpu <= last; cpu++) {
      if (match[1]) cpus.delete(cpu);
      else cpus.add(cpu);
    }
  }
  if (cpus.size === 0) throw notAList(list);
  const map = new Uint8Array((Math.max(...cpus) >> 3) + 1);
  for (const cpu of cpus) map[cpu >> 3] = (map[cpu >> 3] ?? 0) | (1 << (cpu & 7));
  return map;
}

function notAList(list: string): DomainManagerError {
  const message = `cpuset: found ${JSON.stringify(list.slice(0, 100))}, give CPUs as "0-3,8"`;
  return new DomainManagerError("DOMAIN_ARGUMENT", message, { path: "cpuset" });
}
