import { foreign } from "../ffi/foreign.ts";

// Needed: KVM answers questions about its features by ioctl; Node has none.
// Safe: a plain integer; KVM_CHECK_EXTENSION never dereferences it.
const nativeIoctlNumber = foreign("int", "ioctl", ["int", "uint64", "long"]);

// Needed: KVM lists its registers into memory of the caller.
// Safe: the buffer states how many entries it has room for, and the kernel writes no more.
const nativeIoctlBuffer = foreign("int", "ioctl", ["int", "uint64", "buffer"]);

const requests = { checkExtension: 0xae03, getMsrIndexList: 0xc004ae02 } as const;

/** More registers than KVM lists; it has a few hundred. */
const mostRegisters = 4096;

/** Whether an open `/dev/kvm` has an extension (`KVM_CAP_...`). */
export function hasExtension(fd: number, extension: number): boolean {
  return nativeIoctlNumber(fd, requests.checkExtension, extension) > 0;
}

/** The model-specific registers that an open `/dev/kvm` can save; none if it cannot tell. */
export function savedRegisters(fd: number): ReadonlySet<number> {
  const list = Buffer.alloc(4 + 4 * mostRegisters);
  list.writeUInt32LE(mostRegisters, 0);
  if (nativeIoctlBuffer(fd, requests.getMsrIndexList, list) < 0) return new Set();
  const count = Math.min(list.readUInt32LE(0), mostRegisters);
  return new Set(Array.from({ length: count }, (_, index) => list.readUInt32LE(4 + 4 * index)));
}
