import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";

/** Bytes of one count on the shared disk. */
const slot = 512;

/**
 * What a guest of these tests does all the time. It counts in its memory. It also writes each count of a second counter to
 * its own place on the shared disk, waits until that is synced, and only then reports it. So a count that two copies wrote
 * is noticed, and so is one that was acknowledged and lost. A guest that restarts continues after the last count on the disk.
 */
export const counterWorkload = `#!/bin/sh
boot=$(cat /proc/sys/kernel/random/boot_id)
( b=0; while :; do b=$((b+1)); echo "boot=$boot beat=$b $(cat /run/disk)" > /www/next; mv /www/next /www/count; usleep 50000; done ) &
( n=$(tr -d '\\0' < /dev/vdb | tail -n 1 | cut -d' ' -f1); n=\${n:--1}
while :; do
  n=$((n+1)); read up x < /proc/uptime
  printf '%-511s\\n' "$n $boot $up" > /run/block
  dd if=/run/block of=/dev/vdb bs=${slot} seek=$n count=1 conv=notrunc,fsync 2>/dev/null &&
    echo "disk=$n at=$up" > /run/said && mv /run/said /run/disk
  usleep 100000
done ) &
`;

/** What a guest reports about itself. */
export interface Count {
  readonly boot: string;
  readonly beat: number;
  /** The last count that is certainly on its shared disk. */
  readonly disk: number;
  /** Its uptime when it wrote that. */
  readonly at: string;
}

/** Parses what the guest serves. Throws if that is nothing yet. */
export function readCount(text: string): Count {
  const [, boot, beat, disk, at] = /boot=(\S+) beat=(\d+) disk=(\d+) at=(\S+)/.exec(text) ?? [];
  if (!boot || !at) throw new Error(`the guest does not count yet: "${text.slice(0, 100)}"`);
  return { boot, beat: Number(beat), disk: Number(disk), at };
}

/** A count as it is on the shared disk. */
export interface WrittenCount {
  readonly boot: string;
  readonly at: string;
}

/** The counts on the shared disk, starting with one of them, up to the first that is missing; at most this many. */
export function readCounts(
  image: string,
  from: number,
  most = 100_000,
): ReadonlyMap<number, WrittenCount> {
  const found = new Map<number, WrittenCount>();
  if (!existsSync(image)) return found;
  const size = Math.min(statSync(image).size - from * slot, most * slot);
  if (size <= 0) return found;
  const bytes = Buffer.alloc(size);
  const file = openSync(image, "r");
  try {
    readSync(file, bytes, 0, size, from * slot);
  } finally {
    closeSync(file);
  }
  for (let count = from; (count - from) * slot < size; count++) {
    const start = (count - from) * slot;
    const text = bytes.toString("latin1", start, start + slot);
    const [, number, boot, at] = /^(\d+) (\S+) ([\d.]+) *\n$/.exec(text) ?? [];
    if (Number(number) !== count || !boot || !at) break;
    found.set(count, { boot, at });
  }
  return found;
}
