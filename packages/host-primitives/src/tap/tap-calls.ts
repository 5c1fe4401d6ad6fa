import { done, foreign } from "../ffi/foreign.ts";

// Needed: everything about TAP devices and the MTU is an ioctl; Node has none.
// Safe: the buffer has the 40 bytes of struct ifreq, the largest that these requests touch.
const nativeIoctlBuffer = foreign("int", "ioctl", ["int", "uint64", "buffer"]);

// Needed: some TAP requests take a number in place of the pointer.
// Safe: a plain integer; the requests that use it never dereference it.
const nativeIoctlNumber = foreign("int", "ioctl", ["int", "uint64", "long"]);

const requests = {
  setInterface: 0x400454ca,
  setPersistent: 0x400454cb,
  setOwner: 0x400454cc,
  setGroup: 0x400454ce,
  setVnetHeaderSize: 0x400454d8,
  setMtu: 0x8922,
  getIndex: 0x8933,
} as const;

/** Bits of `TUNSETIFF`. */
export const tapFlags = {
  tap: 0x2,
  multiQueue: 0x100,
  noPacketInfo: 0x1000,
  vnetHeader: 0x4000,
  exclusive: 0x8000,
} as const;

const nameBytes = 16;

function interfaceRequest(name: string): Buffer {
  const request = Buffer.alloc(40);
  request.write(name, 0, nameBytes - 1, "latin1");
  return request;
}

/** Attaches an open `/dev/net/tun` to the interface; returns the name that the kernel chose for `tap%d`. */
export function setTapInterface(fd: number, name: string, flags: number): string {
  const request = interfaceRequest(name);
  request.writeUInt16LE(flags, nameBytes);
  done(nativeIoctlBuffer(fd, requests.setInterface, request), "ioctl(TUNSETIFF)", `tap ${name}`);
  return request.toString("latin1", 0, request.indexOf(0));
}

export function setTapNumber(
  fd: number,
  request: "setPersistent" | "setOwner" | "setGroup",
  value: number,
  name: string,
): void {
  const touched = `tap ${name}`;
  done(nativeIoctlNumber(fd, requests[request], value), `ioctl(${request})`, touched);
}

/** Size of the header before each packet. */
export function setVnetHeaderSize(fd: number, size: number, name: string): void {
  const value = new Int32Array([size]);
  done(nativeIoctlBuffer(fd, requests.setVnetHeaderSize, value), "ioctl(vnet header)", name);
}

/** Sets an interface's MTU through any socket of its network namespace. */
export function setMtu(socket: number, name: string, mtu: number): void {
  const request = interfaceRequest(name);
  request.writeInt32LE(mtu, nameBytes);
  done(
    nativeIoctlBuffer(socket, requests.setMtu, request),
    "ioctl(SIOCSIFMTU)",
    `${name} mtu ${mtu}`,
  );
}

/** The index of an interface, through any socket of its network namespace. */
export function interfaceIndex(socket: number, name: string): number {
  const request = interfaceRequest(name);
  done(nativeIoctlBuffer(socket, requests.getIndex, request), "ioctl(SIOCGIFINDEX)", name);
  return request.readInt32LE(nameBytes);
}
