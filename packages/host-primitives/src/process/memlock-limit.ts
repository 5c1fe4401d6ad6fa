/** The inputs that decide how much memory a guest's processes must be able to lock. */
export interface LockedMemory {
  /** Memory that the guest's processes need in addition to the guest's own, in bytes. */
  readonly overheadBytes: bigint;
  /** The guest's memory in bytes: the largest size that hotplug can reach. */
  readonly guestBytes: bigint;
  /** Devices that are passed through by VFIO: GPUs, host devices, SR-IOV interfaces. */
  readonly vfioDevices: number;
}

const kilo = 1000n;

/**
 * The memory lock limit, in bytes, of QEMU or of the daemon that starts it.
 *
 * The guest's memory is rounded up to a multiple of 1,000 bytes. Behind a virtual IOMMU each device
 * maps all of it once more, and libvirt locks it once per device, so it is added for each device
 * but the first. A limit that is too high costs nothing.
 */
export function memlockLimit({ overheadBytes, guestBytes, vfioDevices }: LockedMemory): bigint {
  const rounded = ((guestBytes + kilo - 1n) / kilo) * kilo;
  const more = BigInt(Math.max(0, vfioDevices - 1));
  return overheadBytes + rounded + guestBytes * more;
}
