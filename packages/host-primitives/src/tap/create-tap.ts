import { constants, openSync } from "node:fs";
import { integer } from "../ffi/foreign.ts";
import { HostError } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import { fileFlags } from "../safe-path/file-calls.ts";
import { newSocket, socketFamilies, socketTypes } from "../sockets/socket-calls.ts";
import { setMtu, setTapInterface, setTapNumber, setVnetHeaderSize, tapFlags } from "./tap-calls.ts";

/** A TAP device to create. */
export interface TapSpec {
  /** At most 15 bytes, or a pattern such as `tap%d`. */
  readonly name: string;
  /** User who may open it without being root. */
  readonly owner?: number;
  readonly group?: number;
  /** Queues that can be attached; more than one makes the device multi-queue. Default 1. */
  readonly queues?: number;
  /** Whether packets carry a virtio header. Default true, as QEMU expects. */
  readonly vnetHeader?: boolean;
  readonly mtu?: number;
  /** Whether it stays when its descriptors are closed. Default true. */
  readonly persistent?: boolean;
}

/** A TAP device that was created. */
export interface Tap {
  /** The name that the kernel gave it. */
  readonly name: string;
  /** One non-blocking descriptor per queue. */
  readonly queues: readonly OwnedFd[];
}

/** Length of the virtio header including the number of merged buffers, which QEMU and vhost use. */
const vnetHeaderBytes = 12;

/** Checks a TAP's description. Throws `HOST_ARGUMENT_INVALID` with the invalid field. */
export function checkTapSpec(spec: TapSpec): void {
  interfaceName(spec.name);
  integer(spec.queues ?? 1, 1, 256, "queues");
  integer(spec.owner ?? 0, 0, 0x7fff_ffff, "owner");
  integer(spec.group ?? 0, 0, 0x7fff_ffff, "group");
  integer(spec.mtu ?? 1500, 68, 65_535, "mtu");
}

/** A name that the kernel accepts for an interface: 1 to 15 bytes without slash, colon or space. */
export function interfaceName(name: string): string {
  // The kernel treats names as bytes; control characters would only serve to deceive a reader.
  if (/^[!-~]{1,15}$/.test(name) && !/[/:]/.test(name) && name !== "." && name !== "..")
    return name;
  const message = `name is ${JSON.stringify(name)}; use 1 to 15 ASCII characters without slash, colon or space`;
  throw new HostError("HOST_ARGUMENT_INVALID", message, { path: "name" });
}

/** The bits of `TUNSETIFF` for a TAP. An existing device is never taken over. */
export function tapInterfaceFlags({ queues = 1, vnetHeader = true }: TapSpec): number {
  let flags: number = tapFlags.tap | tapFlags.noPacketInfo;
  if (queues > 1) flags |= tapFlags.multiQueue;
  if (vnetHeader) flags |= tapFlags.vnetHeader;
  return flags;
}

/**
 * Creates a TAP device in the network namespace of the calling thread: what counts is where
 * `/dev/net/tun` is opened, not where the request is made. `EBUSY` if the name is taken. If a step
 * fails, the device does not stay. To create it elsewhere use `runIn` with the operation
 * `createTap`.
 */
export function createTap(spec: TapSpec): Tap {
  checkTapSpec(spec);
  const queues: OwnedFd[] = [];
  try {
    const flags = tapInterfaceFlags(spec);
    const first = openTun();
    queues.push(first);
    const name = setTapInterface(first.fd, spec.name, flags | tapFlags.exclusive);
    if (spec.vnetHeader ?? true) setVnetHeaderSize(first.fd, vnetHeaderBytes, name);
    if (spec.owner !== undefined) setTapNumber(first.fd, "setOwner", spec.owner, name);
    if (spec.group !== undefined) setTapNumber(first.fd, "setGroup", spec.group, name);
    for (let index = 1; index < (spec.queues ?? 1); index++) {
      const queue = openTun();
      queues.push(queue);
      setTapInterface(queue.fd, name, flags);
    }
    if (spec.mtu !== undefined) setMtuHere(name, spec.mtu);
    // Last: until here the device vanishes with its descriptors.
    if (spec.persistent ?? true) setTapNumber(first.fd, "setPersistent", 1, name);
    return { name, queues };
  } catch (error) {
    for (const queue of queues) queue.close();
    throw error;
  }
}

/**
 * Removes a persistent TAP from the calling thread's network namespace. `flags` must be those that
 * it was created with.
 */
export function removeTap(spec: Pick<TapSpec, "name" | "queues" | "vnetHeader">): void {
  checkTapSpec(spec);
  using queue = openTun();
  setTapInterface(queue.fd, spec.name, tapInterfaceFlags(spec));
  setTapNumber(queue.fd, "setPersistent", 0, spec.name);
}

function openTun(): OwnedFd {
  const path = "/dev/net/tun";
  try {
    const flags = constants.O_RDWR | constants.O_NONBLOCK | fileFlags.closeOnExec;
    return new OwnedFd(openSync(path, flags), path);
  } catch (error) {
    throw HostError.from(error, path);
  }
}

function setMtuHere(name: string, mtu: number): void {
  using socket = new OwnedFd(newSocket(socketFamilies.inet, socketTypes.datagram, 0), "socket");
  setMtu(socket.fd, name, mtu);
}
