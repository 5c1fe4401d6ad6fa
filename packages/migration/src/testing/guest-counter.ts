import { readFileSync } from "node:fs";

/** Bytes of one count on the disk. */
const slot = 512;

/**
 * What the guest does all the time: it counts in its memory, writes each count to its own place on the
 * disk, waits until that is synced, and only then reports it on its console. So a count that two copies wrote
 * is noticed, and so is one that was acknowledged and lost.
 */
export const counterScript = `n=$(cat /run/count 2>/dev/null || echo 0)
while :; do
  read up x < /proc/uptime
  printf "%-511s\\n" "$n $up" | dd of=/dev/vda bs=${slot} seek=$n conv=notrunc,fsync 2>/dev/null && echo "ACK $n $up" > /dev/console
  n=$((n+1)); usleep 50000
done`;

/** A count that the guest reported as written. */
export interface Acknowledged {
  readonly count: number;
  readonly uptime: string;
}

/** The counts in a console's log; a line that a move cut in two, or that is still being written, is ignored. */
export function acknowledged(log: string): readonly Acknowledged[] {
  return [...log.matchAll(/^ACK (\d+) ([\d.]+)\r?\n/gm)].map(([, count = "", uptime = ""]) => ({
    count: Number(count),
    uptime,
  }));
}

/** What is wrong with the counts of all copies together; empty if one guest made them. */
export function counterFaults(logs: readonly string[], disk: string): readonly string[] {
  const image = readFileSync(disk, "latin1");
  const seen = new Map<number, string>();
  const faults: string[] = [];
  let highest = -1;
  for (const { count, uptime } of logs.flatMap(acknowledged)) {
    const before = seen.get(count);
    if (before !== undefined)
      faults.push(`count ${count} was written twice: at ${before} and ${uptime}`);
    seen.set(count, uptime);
    highest = Math.max(highest, count);
    const written = image.slice(count * slot, (count + 1) * slot).trim();
    if (written !== `${count} ${uptime}`) {
      faults.push(`count ${count} was acknowledged at ${uptime}; the disk says "${written}"`);
    }
  }
  for (let count = 0; count <= highest; count++) {
    const written = image.slice(count * slot, (count + 1) * slot).trim();
    if (!written.startsWith(`${count} `)) faults.push(`count ${count} is missing on the disk`);
  }
  return faults;
}
