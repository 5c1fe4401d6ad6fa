import { readFileSync } from "node:fs";
import type { DeviceTopology } from "../disks/cloud-init/device-metadata.ts";

/** More CPUs than a host has. */
const mostCpus = 16_384;

/** What this node's kernel knows about PCI devices. An unknown device has no data. */
export function nodeTopology(sysfs = "/sys"): DeviceTopology {
  const read = (address: string, file: string): string | undefined => {
    if (!/^[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$/.test(address)) return undefined;
    try {
      return readFileSync(`${sysfs}/bus/pci/devices/${address}/${file}`, "utf8").trim();
    } catch {
      // A missing file is sysfs's way of saying that it does not know.
      return undefined;
    }
  };
  return {
    numaNode: (address) => {
      const node = Number(read(address, "numa_node") ?? "none");
      // -1: the host has no nodes, or the firmware does not say.
      return Number.isInteger(node) && node >= 0 ? node : undefined;
    },
    nearbyCpus: (address) => cpusOf(read(address, "local_cpulist") ?? ""),
  };
}

/** CPUs of a list in the kernel's format, `0-3,8`; undefined if it is invalid. */
function cpusOf(list: string): readonly number[] | undefined {
  if (!/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(list)) return undefined;
  const cpus = list.split(",").flatMap((part) => {
    const [first = 0, last = first] = part.split("-").map(Number);
    return last < mostCpus ? Array.from({ length: last - first + 1 }, (_, at) => first + at) : [];
  });
  return cpus.length > 0 ? cpus : undefined;
}
