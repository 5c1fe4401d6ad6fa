import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type Names, names as wellKnownNames } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { type GuestDialer, GuestSocket, type OpenOptions } from "@virtkit/domain-manager/streams";
import { connectUnix } from "@virtkit/host-primitives/sockets";
import { checkUid } from "../check-uid.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** How {@link openConsole} and {@link openVnc} open. */
export interface GuestStreamOptions extends OpenOptions {
  readonly names?: Names;
}

/** What each guest's clients share, by path, as long as its sandbox is open. */
const shared = new WeakMap<Sandbox, Map<string, GuestSocket>>();

/**
 * The serial console of a guest as a stream. The newest client wins: the one before gets an error on its
 * stream. QEMU's socket is found inside the sandbox's root and never through a link.
 *
 * Rejects with a `DomainManagerError`: nobody answers, or another client is there and `preserveSession`
 * says to leave it alone.
 *
 * @example
 * await pipeline(process.stdin, await openConsole(sandbox, vmi), process.stdout);
 */
export async function openConsole(
  sandbox: Sandbox,
  vmi: VirtualMachineInstance,
  { names = wellKnownNames(), ...options }: GuestStreamOptions = {},
): Promise<Duplex> {
  return await socketOf(sandbox, "console", names.sockets.serial(uidOf(vmi))).open(options);
}

/** The screen of a guest, in the VNC protocol; see {@link openConsole}. */
export async function openVnc(
  sandbox: Sandbox,
  vmi: VirtualMachineInstance,
  { names = wellKnownNames(), ...options }: GuestStreamOptions = {},
): Promise<Duplex> {
  return await socketOf(sandbox, "screen", names.sockets.vnc(uidOf(vmi))).open(options);
}

/** Slots for redirected USB devices that a guest has. */
const usbSlots = 4;

/**
 * The first free slot for a redirected USB device of a guest, in the usbredir protocol; see {@link openConsole}. No
 * client is disconnected: rejects with `DOMAIN_STREAM_BUSY` while all four are in use.
 */
export async function openUsbRedirection(
  sandbox: Sandbox,
  vmi: VirtualMachineInstance,
  { names = wellKnownNames(), signal }: Omit<GuestStreamOptions, "preserveSession"> = {},
): Promise<Duplex> {
  const uid = uidOf(vmi);
  const slots = Array.from({ length: usbSlots }, (_, slot) =>
    socketOf(sandbox, "USB redirection", names.sockets.usbRedirect(uid, slot)),
  );
  const free = slots.find(({ busy }) => !busy) ?? slots[0];
  if (!free) throw new RangeError("a guest has at least one slot");
  return await free.open({ preserveSession: true, ...(signal ? { signal } : {}) });
}

function uidOf({ metadata }: VirtualMachineInstance): string {
  return checkUid(metadata?.uid, "metadata.uid");
}

function socketOf(sandbox: Sandbox, what: string, path: string): GuestSocket {
  const sockets = shared.get(sandbox) ?? new Map<string, GuestSocket>();
  shared.set(sandbox, sockets);
  const socket = sockets.get(path) ?? new GuestSocket({ what, dial: dialIn(sandbox, path) });
  sockets.set(path, socket);
  return socket;
}

function dialIn({ root }: Sandbox, path: string): GuestDialer {
  return async (signal) => {
    using socket = root.resolve(path, "socket");
    const connection = await connectUnix(socket, { signal });
    return new Socket({ fd: connection.release(), readable: true, writable: true });
  };
}
