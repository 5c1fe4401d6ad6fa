import { integer } from "../ffi/foreign.ts";
import { HostError } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import { interfaceName } from "../tap/create-tap.ts";
import { interfaceIndex } from "../tap/tap-calls.ts";
import { encodeAddress } from "./socket-address.ts";
import {
  bindSocket,
  newSocket,
  setSocketOption,
  socketFamilies,
  socketTypes,
} from "./socket-calls.ts";

/** A socket to open; plain data, so that it can be opened in another namespace. */
export type SocketSpec =
  | {
      readonly kind: "udp4" | "udp6";
      /** Default: all addresses. */
      readonly address?: string;
      /** 0 or absent: the kernel chooses. */
      readonly port?: number;
      /** The only interface on which it sends and receives. */
      readonly device?: string;
      readonly broadcast?: boolean;
      readonly reuseAddress?: boolean;
      /** IPv6 multicast groups to listen to on `device`. */
      readonly groups?: readonly string[];
    }
  | {
      /** Sees and sends ICMPv6 messages; needs `CAP_NET_RAW`. */
      readonly kind: "icmp6";
      readonly device?: string;
      /** Message types to receive; the kernel drops all others. */
      readonly types?: readonly number[];
      /** IPv6 multicast groups to listen to on `device`. */
      readonly groups?: readonly string[];
    }
  | {
      readonly kind: "netlink";
      /**
       * Protocol, such as 0 for rtnetlink or 12 for netfilter. The kernel is asked to explain
       * errors and to check requests strictly.
       */
      readonly protocol: number;
      /** Multicast groups to receive, as a bit mask. */
      readonly groups?: number;
      /** Buffer size for unread messages; may exceed the system's limit. */
      readonly receiveBufferBytes?: number;
    };

const options = {
  reuseAddress: { level: 1, name: 2 },
  broadcast: { level: 1, name: 6 },
  bindToDevice: { level: 1, name: 25 },
  onlyIpv6: { level: 41, name: 26 },
  multicastHops: { level: 41, name: 18 },
  joinGroup: { level: 41, name: 20 },
  icmp6Filter: { level: 58, name: 1 },
  forceReceiveBuffer: { level: 1, name: 33 },
  shortAcks: { level: 270, name: 10 },
  explainErrors: { level: 270, name: 11 },
  strictChecks: { level: 270, name: 12 },
} as const;

const one: Int32Array = new Int32Array([1]);

/**
 * Opens a socket in the network namespace of the calling thread; it stays there forever. The result
 * does not block. Pass a udp socket to `dgram`'s `bind({ fd })`; the others are read by FFI.
 */
export function openSocket(spec: SocketSpec): OwnedFd {
  switch (spec.kind) {
    case "udp4":
    case "udp6":
      return openUdp(spec);
    case "icmp6":
      return openIcmp6(spec);
    case "netlink":
      return openNetlink(spec);
  }
}

function openNetlink(spec: Extract<SocketSpec, { kind: "netlink" }>): OwnedFd {
  const protocol = integer(spec.protocol, 0, 31, "protocol");
  const fd = newSocket(socketFamilies.netlink, socketTypes.raw, protocol);
  return configured(fd, "netlink socket", (socket) => {
    for (const option of [options.shortAcks, options.explainErrors, options.strictChecks]) {
      setSocketOption(socket.fd, option, one, socket.what);
    }
    if (spec.receiveBufferBytes !== undefined) {
      const bytes = integer(spec.receiveBufferBytes, 1, 0x3fff_ffff, "receiveBufferBytes");
      setSocketOption(socket.fd, options.forceReceiveBuffer, new Int32Array([bytes]), socket.what);
    }
    const address = Buffer.alloc(12);
    address.writeUInt16LE(socketFamilies.netlink, 0);
    address.writeUInt32LE(integer(spec.groups ?? 0, 0, 0xffff_ffff, "groups"), 8);
    bindSocket(socket.fd, address, socket.what);
  });
}

function openUdp(spec: Extract<SocketSpec, { kind: "udp4" | "udp6" }>): OwnedFd {
  const six = spec.kind === "udp6";
  const family = six ? socketFamilies.inet6 : socketFamilies.inet;
  const address = checkedAddress(spec, six);
  return configured(newSocket(family, socketTypes.datagram, 0), `${spec.kind} socket`, (socket) => {
    if (six) setSocketOption(socket.fd, options.onlyIpv6, one, socket.what);
    if (spec.reuseAddress) setSocketOption(socket.fd, options.reuseAddress, one, socket.what);
    if (spec.broadcast) setSocketOption(socket.fd, options.broadcast, one, socket.what);
    bindToDevice(socket, spec.device);
    joinGroups(socket, spec.device, spec.groups);
    bindSocket(socket.fd, address, `${socket.what} ${spec.address ?? "*"}:${spec.port ?? 0}`);
  });
}

function checkedAddress(
  spec: Extract<SocketSpec, { kind: "udp4" | "udp6" }>,
  six: boolean,
): Buffer {
  const { address = six ? "::" : "0.0.0.0", port = 0 } = spec;
  if (address.includes(":") === six) return encodeAddress({ address, port });
  const message = `address is ${JSON.stringify(address)}, which is not an address for a ${spec.kind} socket`;
  throw new HostError("HOST_ARGUMENT_INVALID", message, { path: "address" });
}

function openIcmp6(spec: Extract<SocketSpec, { kind: "icmp6" }>): OwnedFd {
  const icmp6 = 58;
  return configured(
    newSocket(socketFamilies.inet6, socketTypes.raw, icmp6),
    "icmp6 socket",
    (socket) => {
      bindToDevice(socket, spec.device);
      joinGroups(socket, spec.device, spec.groups);
      if (spec.types)
        setSocketOption(socket.fd, options.icmp6Filter, icmp6Filter(spec.types), socket.what);
      // Neighbour discovery ignores messages that may have crossed a router.
      setSocketOption(socket.fd, options.multicastHops, new Int32Array([255]), socket.what);
    },
  );
}

function configured(fd: number, what: string, configure: (socket: OwnedFd) => void): OwnedFd {
  const socket = new OwnedFd(fd, what);
  try {
    configure(socket);
    return socket;
  } catch (error) {
    socket.close();
    throw error;
  }
}

function bindToDevice(socket: OwnedFd, device: string | undefined): void {
  if (device === undefined) return;
  const name = Buffer.from(`${interfaceName(device)}\0`, "latin1");
  setSocketOption(socket.fd, options.bindToDevice, name, `${socket.what} on ${device}`);
}

/** Groups are joined on one link, by its index, which is looked up in the thread's namespace. */
function joinGroups(
  socket: OwnedFd,
  device: string | undefined,
  groups: readonly string[] = [],
): void {
  if (groups.length === 0) return;
  const request = Buffer.alloc(20);
  request.writeUInt32LE(interfaceIndex(socket.fd, interfaceName(device ?? "")), 16);
  for (const address of groups) {
    encodeAddress({ address }).copy(request, 0, 8, 24);
    setSocketOption(socket.fd, options.joinGroup, request, `${socket.what}, group ${address}`);
  }
}

/** A filter that lets only these ICMPv6 types through: a set bit blocks its type. Pure. */
export function icmp6Filter(types: readonly number[]): Uint32Array {
  const filter = new Uint32Array(8).fill(0xffffffff);
  for (const type of types) {
    const word = integer(type, 0, 255, "types") >> 5;
    filter[word] = (filter[word] ?? 0) & ~(1 << (type & 31));
  }
  return filter;
}
