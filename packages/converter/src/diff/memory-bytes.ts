import type { Domain } from "../model/domain.ts";
import type { XmlElement } from "../model/extensible.ts";

/** Units of libvirt; the default is KiB. */
const units: Readonly<Record<string, bigint>> = {
  b: 1n,
  bytes: 1n,
  KB: 1000n,
  k: 1024n,
  KiB: 1024n,
  MB: 1000n ** 2n,
  M: 1024n ** 2n,
  MiB: 1024n ** 2n,
  GB: 1000n ** 3n,
  G: 1024n ** 3n,
  GiB: 1024n ** 3n,
  TB: 1000n ** 4n,
  T: 1024n ** 4n,
  TiB: 1024n ** 4n,
};

/** An amount with one of libvirt's units, in bytes; a bigint only above 2^53. */
export function bytesIn(value: number | bigint, unit: string | undefined): number | bigint {
  const factor = units[unit || "KiB"] ?? 1n;
  const bytes = BigInt(value) * factor;
  const number = Number(bytes);
  return Number.isSafeInteger(number) ? number : bytes;
}

/** The guest's memory in bytes: at its start, and with what is plugged in now. */
export function guestMemoryBytes({ memory, devices }: Domain): {
  readonly atBoot: bigint;
  readonly now: bigint;
} {
  const total = BigInt(bytesIn(memory.value, memory.unit));
  let size = 0n;
  let requested = 0n;
  for (const device of devices.extra?.children ?? []) {
    if (typeof device === "string" || device.name !== "memory") continue;
    const target = find(device, "target");
    // Libvirt counts a whole device as memory, however much of it is plugged in.
    size += amount(target, "size");
    requested += amount(target, "requested") || amount(target, "size");
  }
  return { atBoot: total - size, now: total - size + requested };
}

function find(element: XmlElement | undefined, name: string): XmlElement | undefined {
  for (const child of element?.children ?? []) {
    if (typeof child !== "string" && child.name === name) return child;
  }
  return undefined;
}

function amount(element: XmlElement | undefined, name: string): bigint {
  const found = find(element, name);
  const text = found?.children?.[0];
  if (typeof text !== "string" || !/^\s*\d+\s*$/.test(text)) return 0n;
  return BigInt(bytesIn(BigInt(text.trim()), found?.attributes?.["unit"]));
}
