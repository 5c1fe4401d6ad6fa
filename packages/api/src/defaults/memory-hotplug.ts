import type { Quantity } from "../quantity/index.ts";
import { amountOf, gibibyte } from "../resource-amount.ts";
import type { VirtualMachineInstanceSpec } from "../schema/index.ts";

/** Memory is plugged in blocks of a transparent hugepage, as QEMU recommends. */
const block = 2n << 20n;

/**
 * Why the guest's memory cannot grow up to `maxGuest` while it runs, or `undefined` if it can. The
 * text continues a sentence that starts with the field `domain.memory.maxGuest`.
 */
export function memoryHotplugProblem(
  spec: VirtualMachineInstanceSpec,
  maxGuest: Quantity | undefined,
): string | undefined {
  return incompatible(spec) ?? unsuitable(spec, maxGuest);
}

function incompatible({ domain }: VirtualMachineInstanceSpec): string | undefined {
  if (domain.cpu?.realtime) return "is not possible with cpu.realtime; remove one of them";
  if (domain.cpu?.numa?.guestMappingPassthrough) {
    return "is not possible with cpu.numa.guestMappingPassthrough; remove one of them";
  }
  if (domain.launchSecurity) return "is not possible with launchSecurity; remove one of them";
  return undefined;
}

function unsuitable(
  { domain, architecture }: VirtualMachineInstanceSpec,
  maxGuest: Quantity | undefined,
): string | undefined {
  if (domain.memory?.guest === undefined) return "needs memory.guest; set it";
  if (!maxGuest) return "is not set";
  const guest = amountOf(domain.memory.guest);
  if (guest.cmp(maxGuest) > 0) return `is ${maxGuest}, less than memory.guest ${guest}; raise it`;
  const alignment = domain.memory.hugepages?.pageSize === "1Gi" ? gibibyte : block;
  const unit = alignment === gibibyte ? "1Gi" : "2Mi";
  if (guest.value() % alignment !== 0n)
    return `needs memory.guest in steps of ${unit}, but it is ${guest}`;
  if (maxGuest.value() % alignment !== 0n) return `is ${maxGuest}; use steps of ${unit}`;
  if (architecture !== "amd64") return "is only supported on amd64; remove it";
  // Less leaves too little for the kernel's own structures, the swiotlb and the PCI hole.
  if (guest.value() < gibibyte) return `needs memory.guest of 1Gi or more, but it is ${guest}`;
  return undefined;
}
