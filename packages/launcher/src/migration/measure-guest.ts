import { type Clock, until } from "@virtkit/api/clock";
import { describeError, type Log } from "@virtkit/api/observe";
import type { DomainRef, Libvirt } from "@virtkit/domain-manager/libvirt";
import type { GuestMeasure } from "./migration-verbs.ts";
import { residentMemory } from "./resident-memory.ts";

/** What {@link measureGuest} measures. */
export interface MeasureParts {
  readonly libvirt: Pick<Libvirt, "call">;
  readonly dom: DomainRef;
  /** Disks that would be copied, such as `vda`. */
  readonly disks: readonly string[];
  readonly seconds: number;
  readonly clock?: Clock | undefined;
  readonly log?: Log | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** libvirt's word for a measurement that is there. */
const measured = 2;
const mebibyte = 2 ** 20;

/**
 * How much of a running guest would have to be sent, and how fast it writes, measured for the
 * requested time. The guest is not disturbed. What cannot be measured counts as everything to send,
 * and nothing written.
 */
export async function measureGuest(parts: MeasureParts): Promise<GuestMeasure> {
  const { libvirt, dom, disks } = parts;
  const dirty = await dirtyRate(parts);
  const stats = await statsOf(parts);
  const memoryBytes = Number(stats["balloon.maximum"] ?? 0) * 1024;
  const resident = await residentMemory(memoryBytes);
  const sizes = await Promise.all(
    disks.map(async (path) => {
      const { allocation } = await libvirt.call("domainGetBlockInfo", { dom, path });
      return Number(allocation);
    }),
  );
  return {
    memoryBytes,
    usedBytes: Math.min(memoryBytes, resident ?? memoryBytes),
    diskBytes: sizes.reduce((sum, size) => sum + size, 0),
    ...(dirty === undefined ? {} : { dirtyBytesPerSecond: dirty }),
  };
}

async function statsOf({ libvirt, dom }: MeasureParts): Promise<Readonly<Record<string, unknown>>> {
  const { records } = await libvirt.call("connectGetAllDomainStats", { domains: [dom] });
  return records[0]?.params ?? {};
}

/** Undefined if this libvirt or QEMU does not measure it. */
async function dirtyRate(parts: MeasureParts): Promise<number | undefined> {
  const { libvirt, dom, seconds, clock, log, signal } = parts;
  try {
    await libvirt.call("domainStartDirtyRateCalc", { dom, seconds });
    const look = async (): Promise<number | undefined> => {
      const stats = await statsOf(parts);
      if (Number(stats["dirtyrate.calc_status"]) !== measured) return undefined;
      return Number(stats["dirtyrate.megabytes_per_second"] ?? 0) * mebibyte;
    };
    const timeout = (seconds + 5) * 1_000;
    return await until(look, { clock, interval: 100, timeout, signal });
  } catch (error) {
    log?.info({ error: describeError(error) }, "how fast the guest writes could not be measured");
    return undefined;
  }
}
