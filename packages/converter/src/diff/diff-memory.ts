import type { Domain } from "../model/domain.ts";
import type { DomainChange } from "./domain-change.ts";
import { bytesIn, guestMemoryBytes } from "./memory-bytes.ts";

/** Transparent huge pages of x86_64: memory comes in blocks of this size. */
const blockBytes = 2n ** 21n;
const hugeBlockBytes = 2n ** 30n;

/** Less memory leaves a guest without room for the tables that describe plugged memory. */
const leastBytes = 2n ** 30n;

/** Memory to plug in. */
export function diffMemory(running: Domain, wanted: Domain): DomainChange[] {
  const changes: DomainChange[] = [];
  const { atBoot, now: from } = guestMemoryBytes(running);
  const { now: to } = guestMemoryBytes(wanted);
  if (from !== to) {
    const restart = whyRestart(running, atBoot, to);
    changes.push({
      kind: "set-memory",
      from: plain(from),
      to: plain(to),
      summary: `set the memory from ${from} to ${to} bytes`,
      effect: restart === undefined ? "needs-migration" : "needs-restart",
      reason:
        restart ??
        "the Pod was created for a different amount of memory, so the guest must move to a new one",
    });
  }
  const [limit, newLimit] = [limitOf(running), limitOf(wanted)];
  if (limit !== newLimit && newLimit !== undefined) {
    const before = limit ?? from;
    changes.push({
      kind: "set-memory-limit",
      from: plain(before),
      to: plain(newLimit),
      summary: `set the memory that can be plugged in from ${before} to ${newLimit} bytes`,
      effect: "needs-restart",
      reason: "the limit is fixed when the guest starts",
    });
  }
  return changes;
}

function whyRestart(running: Domain, atBoot: bigint, to: bigint): string | undefined {
  const limit = limitOf(running);
  const block = usesHugePages(running) ? hugeBlockBytes : blockBytes;
  if (limit === undefined) return "the guest was started without room for more memory (maxGuest)";
  if (to > limit) return `the guest was started with a limit of ${limit} bytes`;
  if (to < atBoot) return `the guest was started with ${atBoot} bytes and cannot have less`;
  if (running.launchSecurity) return "the guest's memory is encrypted";
  if (running.os.type.arch !== "x86_64")
    return "guests of this architecture do not support memory hotplug";
  if (to < leastBytes) return "a guest with less than 1 GiB does not support memory hotplug";
  if (to % block !== 0n) return `memory is plugged in blocks of ${block} bytes`;
  return undefined;
}

function limitOf({ maxMemory }: Domain): bigint | undefined {
  return maxMemory && BigInt(bytesIn(maxMemory.value, maxMemory.unit));
}

function usesHugePages({ memoryBacking }: Domain): boolean {
  const pages = memoryBacking?.hugepages?.page ?? [];
  return pages.some(({ size, unit }) => BigInt(bytesIn(size, unit)) === hugeBlockBytes);
}

function plain(bytes: bigint): number | bigint {
  return bytesIn(bytes, "b");
}
