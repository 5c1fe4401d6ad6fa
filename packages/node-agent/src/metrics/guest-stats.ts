import type { DomainStats } from "@virtkit/domain-manager";
import { cutText } from "../cut-text.ts";

/** A guest's statistics. What is unknown is absent. Times in nanoseconds, memory in KiB. */
export interface GuestStats {
  readonly cpu?: Counts<"time" | "user" | "system">;
  readonly memory?: Counts<MemoryCount>;
  readonly vcpus?: readonly Counts<"state" | "time" | "wait" | "delay">[];
  /** By the names of the VMI's interfaces, or of the devices if they have none. */
  readonly interfaces?: readonly (Counts<InterfaceCount> & { readonly name: string })[];
  /** By the names of the VMI's disks, or of the devices if they have none. */
  readonly disks?: readonly (Counts<DiskCount> & { readonly name: string })[];
  /** Guest's load over one, five and fifteen minutes. */
  readonly load?: Counts<"1m" | "5m" | "15m">;
  /** Pairs of a vCPU and a node CPU that it may run on. */
  readonly cpuAffinity?: number;
  readonly dirtyRateMebibytes?: number;
}

type MemoryCount =
  | "resident"
  | "available"
  | "unused"
  | "cached"
  | "swapIn"
  | "swapOut"
  | "majorFaults"
  | "minorFaults"
  | "balloon"
  | "usable"
  | "domain";
type InterfaceCount =
  | "rxBytes"
  | "txBytes"
  | "rxPackets"
  | "txPackets"
  | "rxErrors"
  | "txErrors"
  | "rxDropped"
  | "txDropped";
type DiskCount =
  | "readRequests"
  | "writeRequests"
  | "readBytes"
  | "writeBytes"
  | "readTimes"
  | "writeTimes"
  | "flushRequests"
  | "flushTimes";
type Counts<Name extends string> = { readonly [N in Name]?: number | undefined };

/** What devices are called in the VMI, by libvirt's names (`vda`, `tap0`). */
export interface DeviceNames {
  readonly disks: ReadonlyMap<string, string>;
  readonly interfaces: ReadonlyMap<string, string>;
}

/** More devices than any guest has; a launcher that reports more is not believed. */
const mostDevices = 1024;
/** A device's name on the node has 15 characters. */
const longestName = 256;

/** The answer of libvirt's bulk call, by its own names (`net.0.rx.bytes`). */
export function readGuestStats(stats: DomainStats, names: DeviceNames): GuestStats {
  const count = (name: string): number | undefined => {
    const value = Object.hasOwn(stats, name) ? stats[name] : undefined;
    return typeof value === "number" && Number.isFinite(value) ? value : undefined;
  };
  const text = (name: string): string | undefined => {
    const value = Object.hasOwn(stats, name) ? stats[name] : undefined;
    return typeof value === "string" ? value : undefined;
  };
  const each = <T>(group: string, total: string, read: (prefix: string) => T): T[] => {
    const length = Math.min(count(total) ?? 0, mostDevices);
    return Array.from({ length }, (_, index) => read(`${group}.${index}`));
  };
  const balloon = count("balloon.current");
  return {
    cpu: { time: count("cpu.time"), user: count("cpu.user"), system: count("cpu.system") },
    memory: {
      resident: count("balloon.rss"),
      available: count("balloon.available"),
      unused: count("balloon.unused"),
      cached: count("balloon.disk_caches"),
      swapIn: count("balloon.swap_in"),
      swapOut: count("balloon.swap_out"),
      majorFaults: count("balloon.major_fault"),
      minorFaults: count("balloon.minor_fault"),
      usable: count("balloon.usable"),
      balloon,
      domain: balloon,
    },
    vcpus: each("vcpu", "vcpu.maximum", (prefix) => ({
      state: count(`${prefix}.state`),
      time: count(`${prefix}.time`),
      wait: count(`${prefix}.wait`),
      delay: count(`${prefix}.delay`),
    })),
    interfaces: each("net", "net.count", (prefix) => ({
      name: named(names.interfaces, text(`${prefix}.name`)),
      rxBytes: count(`${prefix}.rx.bytes`),
      txBytes: count(`${prefix}.tx.bytes`),
      rxPackets: count(`${prefix}.rx.pkts`),
      txPackets: count(`${prefix}.tx.pkts`),
      rxErrors: count(`${prefix}.rx.errs`),
      txErrors: count(`${prefix}.tx.errs`),
      rxDropped: count(`${prefix}.rx.drop`),
      txDropped: count(`${prefix}.tx.drop`),
    })),
    disks: each("block", "block.count", (prefix) => ({
      name: named(names.disks, text(`${prefix}.name`)),
      readRequests: count(`${prefix}.rd.reqs`),
      writeRequests: count(`${prefix}.wr.reqs`),
      readBytes: count(`${prefix}.rd.bytes`),
      writeBytes: count(`${prefix}.wr.bytes`),
      readTimes: count(`${prefix}.rd.times`),
      writeTimes: count(`${prefix}.wr.times`),
      flushRequests: count(`${prefix}.fl.reqs`),
      flushTimes: count(`${prefix}.fl.times`),
    })),
    ...(count("dirtyrate.megabytes_per_second") === undefined
      ? {}
      : { dirtyRateMebibytes: count("dirtyrate.megabytes_per_second") ?? 0 }),
  };
}

function named(names: ReadonlyMap<string, string>, device = ""): string {
  return names.get(device) ?? cutText(device, longestName);
}
