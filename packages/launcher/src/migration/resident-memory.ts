import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Most that is read of a process's map. */
const maxBytes = 4 << 20;

/**
 * How much of the guest's memory QEMU has ever touched, in bytes: the rest is zero and is not sent.
 * QEMU is found among the processes that this launcher sees: only one has memory of that size.
 * Undefined if it is not found.
 */
export async function residentMemory(
  guestBytes: number,
  folder = "/proc",
): Promise<number | undefined> {
  for (const pid of await readdir(folder)) {
    if (!/^\d+$/.test(pid)) continue;
    const name = await textOf(join(folder, pid, "comm"));
    if (!/^(qemu|kvm)/.test(name)) continue;
    const found = residentOf(await textOf(join(folder, pid, "smaps")), guestBytes);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The resident part of those mappings that are large enough to be the guest's memory or one half of it. */
export function residentOf(smaps: string, guestBytes: number): number | undefined {
  let found: number | undefined;
  let size = 0;
  for (const [, field, amount] of smaps.matchAll(/^(Size|Rss):\s+(\d+) kB$/gm)) {
    const bytes = Number(amount) * 1024;
    if (field === "Size") size = bytes;
    else if (size >= guestBytes / 2 && size <= guestBytes * 1.5) found = (found ?? 0) + bytes;
  }
  return found;
}

async function textOf(path: string): Promise<string> {
  // A process that has ended meanwhile, or whose memory we may not see, counts for nothing.
  return (await readFile(path, "utf8").catch(() => "")).slice(0, maxBytes);
}
