import { LibvirtError } from "../libvirt-error.ts";
import { codecFor } from "../xdr/codec-for.ts";
import { malformed, XdrReader } from "../xdr/xdr-reader.ts";

/** Bytes of a message's header, including its length word. */
export const headerBytes = 28;

/** The protocol's limit for a whole message. */
export const messageLimit = 33_554_432;

/** libvirt's programs: numbers that begin each message. */
export const programs = { remote: 0x20008086, qemu: 0x20008087, keepalive: 0x6b656570 } as const;

/** Keepalive has two procedures, without any content. */
export const keepaliveProcedures = { ping: 1, pong: 2 } as const;

/** What kind of message it is. */
export const messageTypes = { call: 0, reply: 1, event: 2, stream: 3, hole: 6 } as const;

/** The status; a stream's packets are `more` until the last one. */
export const messageStatus = { ok: 0, error: 1, more: 2 } as const;

/** The header of a message. */
export interface MessageHeader {
  readonly program: number;
  readonly procedure: number;
  readonly type: number;
  readonly serial: number;
  readonly status: number;
}

/** Fills in the header of a message whose content already follows it. */
export function writeHeader(
  message: Buffer,
  { program, procedure, type, serial, status }: MessageHeader,
): void {
  if (message.length > messageLimit) {
    throw new LibvirtError(
      "LIBVIRT_ARGUMENT",
      `the arguments take ${message.length} bytes, a message has at most ${messageLimit}`,
    );
  }
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(program, 4);
  message.writeUInt32BE(1, 8);
  message.writeUInt32BE(procedure, 12);
  message.writeUInt32BE(type, 16);
  message.writeUInt32BE(serial, 20);
  message.writeUInt32BE(status, 24);
}

/** Reads the header of a whole message. */
export function readHeader(message: Buffer): MessageHeader {
  const version = message.readUInt32BE(8);
  if (version !== 1) throw malformed(`a message has the protocol version ${version}, not 1`);
  return {
    program: message.readUInt32BE(4),
    procedure: message.readUInt32BE(12),
    type: message.readUInt32BE(16),
    serial: message.readUInt32BE(20),
    status: message.readUInt32BE(24),
  };
}

/** The error that a message with the status `error` carries. */
export function readError(message: Buffer, procedure: string | undefined): LibvirtError {
  const reader = new XdrReader(message, headerBytes);
  const value = codecFor("error").read(reader) as {
    code: number;
    domain: number;
    level: number;
    message?: string;
  };
  return LibvirtError.fromRemote(procedure, { ...value, message: value.message ?? "no message" });
}
