import type { Count } from "./guest-counter.ts";
import type { MovingVm } from "./moving-vm.ts";

/**
 * The kernel of a guest has died, although its QEMU runs and has the run grant. QEMU before 9.0 can lose writes of an
 * emulated guest while it copies its memory (fixed in QEMU by commit 03bfc2188f06). A case in which that happens says
 * nothing about the fault that it was made for.
 */
export class GuestDamaged extends Error {
  override readonly name = "GuestDamaged";
}

/**
 * Waits until a guest counts that has the run grant, and returns its count.
 *
 * @throws GuestDamaged if it does not count, or has rebooted although its VMI is the same: a kernel of these tests reboots
 * when it panics.
 */
export async function countOf(vm: MovingVm, before: Count, vmiUid: string): Promise<Count> {
  let last: Count;
  try {
    last = await vm.counting(await vm.counting());
  } catch (cause) {
    throw new GuestDamaged("the guest runs, but it no longer counts", { cause });
  }
  if (last.boot !== before.boot && (await vm.vmiUid()) === vmiUid) {
    throw new GuestDamaged("the guest has rebooted by itself");
  }
  return last;
}
