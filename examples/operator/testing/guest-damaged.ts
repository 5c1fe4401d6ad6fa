import { type Clock, realClock, until } from "@virtkit/api/clock";
import type { Count } from "./guest-counter.ts";
import type { MovingVm } from "./moving-vm.ts";

/**
 * The kernel of a guest that has moved has died, although its QEMU runs and has the run grant. QEMU before 9.0 can lose
 * writes of an emulated guest while it copies its memory (fixed in QEMU by commit 03bfc2188f06). A test in which that
 * happens says nothing about the platform.
 */
export class GuestDamaged extends Error {
  override readonly name = "GuestDamaged";
}

/** Whether an error, or one of its causes, says that QEMU has damaged a guest. */
export function isDamaged(error: unknown): boolean {
  if (error instanceof GuestDamaged) return true;
  return error instanceof Error && error.cause !== undefined && isDamaged(error.cause);
}

/** Runs an action, and once more if QEMU has damaged its guest. The action gets another guest then. */
export async function onceMoreIfDamaged<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isDamaged(error)) throw error;
    process.stderr.write(`once more, because the guest was damaged: ${error}\n`);
    return await act();
  }
}

/** Which guest a VM had at a moment, and how far that had counted. */
export interface SeenGuest {
  readonly vmiUid: string;
  readonly count: Count;
}

/** The part of a {@link MovingVm} by which a dead kernel is recognized. */
export type CountingVm = Pick<
  MovingVm,
  "counting" | "diskCount" | "grant" | "isExecuting" | "vmiUid"
>;

/** Milliseconds in which a guest that is alive has written to its disk. On an idle host, it does so several times a second. */
const silence = 30_000;

/**
 * Waits until the guest of a VM counts. It may be another guest than before.
 *
 * @throws GuestDamaged if the guest has moved, and then its kernel has died, or has rebooted although the VMI is the same: a
 * kernel of these tests reboots when it panics.
 */
export async function seeGuest(
  vm: CountingVm,
  before?: SeenGuest,
  clock: Clock = realClock,
): Promise<SeenGuest> {
  const stop = new AbortController();
  const counted = vm.counting().then((first) => vm.counting(first));
  const died = untilDead(vm, clock, stop.signal).then(() => {
    throw new GuestDamaged("the guest has moved and runs, but it no longer counts");
  });
  let count: Count;
  try {
    count = await Promise.race([counted, died]);
  } finally {
    stop.abort();
  }
  const seen = { vmiUid: await vm.vmiUid(), count };
  const isReboot = seen.vmiUid === before?.vmiUid && count.boot !== before.count.boot;
  if (isReboot && (await hasMoved(vm))) {
    throw new GuestDamaged(`the guest has moved and rebooted by itself: ${changeOf(before, seen)}`);
  }
  return seen;
}

/**
 * Waits until the same guest has counted further.
 *
 * @throws GuestDamaged as {@link seeGuest} does.
 */
export async function keepsCounting(vm: CountingVm, before: SeenGuest): Promise<SeenGuest> {
  const seen = await seeGuest(vm, before);
  const { boot, beat, disk } = before.count;
  if (seen.count.boot !== boot) {
    throw new Error(`the guest was restarted: ${changeOf(before, seen)}`);
  }
  if (seen.count.beat <= beat || seen.count.disk <= disk) {
    throw new Error(`the guest counts again from an earlier number: ${changeOf(before, seen)}`);
  }
  return seen;
}

/** Two moments of a guest, for an error message. */
export function changeOf(before: SeenGuest, after: SeenGuest): string {
  const shown = ({ vmiUid, count: { boot, beat, disk } }: SeenGuest): string =>
    `VMI ${vmiUid}, boot ${boot}, beat ${beat}, disk ${disk}`;
  return `before: ${shown(before)}; now: ${shown(after)}`;
}

/**
 * Resolves when the kernel of a guest that has moved is certainly dead. A guest whose network is broken still writes to its disk,
 * and one that is paused has not died.
 */
async function untilDead(vm: CountingVm, clock: Clock, signal: AbortSignal): Promise<void> {
  let [last, since] = [vm.diskCount(), clock.now()];
  const isDead = async (): Promise<boolean> => {
    const now = vm.diskCount();
    if (now !== last) [last, since] = [now, clock.now()];
    if (clock.now() - since < silence) return false;
    // What cannot be found out does not excuse anything.
    return await isDamageable(vm).catch(() => false);
  };
  await until(isDead, { clock, interval: 1_000, signal });
}

async function isDamageable(vm: CountingVm): Promise<boolean> {
  return (await hasMoved(vm)) && (await vm.isExecuting());
}

/** Each move raises the epoch of the grant, which begins with 1 in each VMI. */
async function hasMoved(vm: CountingVm): Promise<boolean> {
  const grant = await vm.grant();
  return "epoch" in grant && grant.epoch > 1;
}
