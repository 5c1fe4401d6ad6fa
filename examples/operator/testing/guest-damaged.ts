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

/** Which guest a VM had at a moment, how far that had counted, and what ran it. */
export interface SeenGuest {
  readonly vmiUid: string;
  readonly count: Count;
  /** The epoch of its run grant: each move raises it. */
  readonly epoch: number;
  /** The pids of its QEMUs: one, but for a moment after a move. */
  readonly qemus: readonly string[];
}

/** The part of a {@link MovingVm} by which a dead kernel is recognized. */
export type CountingVm = Pick<
  MovingVm,
  "counting" | "diskCount" | "grant" | "isExecuting" | "qemus" | "vmiUid"
>;

/** Milliseconds in which a guest that is alive has written to its disk. On an idle host, it does so several times a second. */
const silence = 30_000;

/**
 * Waits until the guest of a VM counts. It may be another guest than before.
 *
 * @throws GuestDamaged if the guest has moved, and then its kernel has died, or has rebooted although VMI and QEMU are the
 * same: a kernel of these tests reboots when it panics. Another QEMU in the same VMI, which no move explains, is no excuse.
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
  const [vmiUid, epoch] = await Promise.all([vm.vmiUid(), epochOf(vm)]);
  const seen = { vmiUid, count, epoch, qemus: vm.qemus() };
  if (vmiUid !== before?.vmiUid || count.boot === before.count.boot) return seen;
  const isSameRun = epoch > before.epoch || seen.qemus.some((each) => before.qemus.includes(each));
  if (!isSameRun) throw new Error(`the guest was started twice: ${changeOf(before, seen)}`);
  if (hasMoved(epoch)) {
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
  const shown = ({ vmiUid, count: { boot, beat, disk }, epoch, qemus }: SeenGuest): string =>
    `VMI ${vmiUid}, boot ${boot}, beat ${beat}, disk ${disk}, epoch ${epoch}, QEMU ${qemus.join(" and ")}`;
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
  return hasMoved(await epochOf(vm)) && (await vm.isExecuting());
}

/** It begins with 1 in each VMI. */
function hasMoved(epoch: number): boolean {
  return epoch > 1;
}

async function epochOf(vm: CountingVm): Promise<number> {
  const grant = await vm.grant();
  return "epoch" in grant ? grant.epoch : 0;
}
