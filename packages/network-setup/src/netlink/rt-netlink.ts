import { constants } from "node:os";
import type { OwnedFd } from "@virtkit/host-primitives";
import { receiveDatagram, sendDatagram } from "@virtkit/host-primitives/sockets";
import { NetworkSetupError } from "../network-setup-error.ts";
import {
  decodeAttributes,
  decodeMessages,
  encodeMessage,
  malformed,
  type NetlinkMessage,
  readText,
} from "./netlink-message.ts";

/** Flags of requests. */
export const requestFlags = {
  request: 0x1,
  acknowledge: 0x4,
  replace: 0x100,
  exclusive: 0x200,
  dump: 0x300,
  create: 0x400,
} as const;

const messageTypes = { error: 2, done: 3 } as const;
const dumpInterrupted = 0x10;
const maxAnswerBytes = 1 << 18;
const dumpAttempts = 5;
const errorNames: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.errno).map(([name, number]) => [number, name]),
);

/**
 * A conversation with the kernel about the links, addresses and routes of the socket's network
 * namespace. The kernel answers inside `send`, so nothing here waits.
 */
export class RtNetlink implements Disposable {
  readonly #socket: OwnedFd;
  #sequence = 0;

  /** Takes over the socket, and closes it when it is closed itself. */
  constructor(socket: OwnedFd) {
    this.#socket = socket;
  }

  /**
   * Asks for a change; throws a {@link NetworkSetupError} with the kernel's reason if it refuses.
   */
  change(what: string, kind: number, flags: number, body: Buffer): void {
    this.#send(kind, flags | requestFlags.request | requestFlags.acknowledge, body);
    let answer: NetlinkMessage | undefined;
    while (!answer) answer = this.#receive().find(({ type }) => type === messageTypes.error);
    checkError(answer, what);
  }

  /** Asks for one object; undefined if there is none. */
  get(what: string, type: number, body: Buffer): Buffer | undefined {
    this.#send(type, requestFlags.request, body);
    for (const message of this.#receive()) {
      if (message.type !== messageTypes.error) return message.body;
      if (hasErrorNumber(message, constants.errno.ENODEV)) return undefined;
      checkError(message, what);
    }
    throw malformed(`${what} was not answered`);
  }

  /** All objects of a kind. Starts again, a few times, if they change meanwhile. */
  dump(what: string, type: number, body: Buffer): Buffer[] {
    for (let attempt = 1; ; attempt++) {
      const { bodies, interrupted } = this.#dumpOnce(what, type, body);
      if (!interrupted || attempt === dumpAttempts) return bodies;
    }
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  #dumpOnce(what: string, type: number, body: Buffer): { bodies: Buffer[]; interrupted: boolean } {
    this.#send(type, requestFlags.request | requestFlags.dump, body);
    const bodies: Buffer[] = [];
    let interrupted = false;
    for (;;) {
      for (const message of this.#receive()) {
        if ((message.flags & dumpInterrupted) !== 0) interrupted = true;
        if (message.type === messageTypes.done) return { bodies, interrupted };
        if (message.type === messageTypes.error) checkError(message, what);
        else bodies.push(message.body);
      }
    }
  }

  #send(type: number, flags: number, body: Buffer): void {
    this.#sequence++;
    sendDatagram(this.#socket, encodeMessage(type, flags, this.#sequence, body));
  }

  /** The next messages that answer the last request; messages for earlier requests are skipped. */
  #receive(): NetlinkMessage[] {
    for (;;) {
      const datagram = receiveDatagram(this.#socket, { maxBytes: maxAnswerBytes });
      if (!datagram) throw malformed("it is missing");
      const messages = decodeMessages(datagram.data);
      const ours = messages.filter(({ sequence }) => sequence === this.#sequence);
      if (ours.length > 0) return ours;
    }
  }
}

/** Whether the kernel refused with this error, such as `EEXIST`. */
export function isRefusal(error: unknown, ...names: readonly string[]): boolean {
  return error instanceof KernelRefusal && names.includes(error.errno);
}

class KernelRefusal extends NetworkSetupError {
  readonly errno: string;

  constructor(what: string, errno: string, reason: string) {
    const message = `the kernel refused to ${what}: ${errno}${reason === "" ? "" : `, ${reason}`}`;
    super("NETWORK_KERNEL_REFUSED", message, { path: what });
    this.errno = errno;
  }
}

function errorNumber({ body }: NetlinkMessage): number {
  if (body.length < 4) throw malformed("an error is truncated");
  return -body.readInt32LE(0);
}

function hasErrorNumber(message: NetlinkMessage, number: number): boolean {
  return message.type === messageTypes.error && errorNumber(message) === number;
}

function checkError(message: NetlinkMessage, what: string): void {
  const number = errorNumber(message);
  if (number === 0) return;
  throw new KernelRefusal(what, errorNames.get(number) ?? `E${number}`, reasonOf(message));
}

/** Newer kernels give the reason in words, after the number and the request's header. */
function reasonOf({ body }: NetlinkMessage): string {
  const reasonText = 1;
  try {
    return readText(decodeAttributes(body.subarray(20)).get(reasonText));
  } catch {
    // The error number is reported in any case.
    return "";
  }
}
