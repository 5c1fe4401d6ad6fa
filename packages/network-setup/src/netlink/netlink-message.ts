import { NetworkSetupError } from "../network-setup-error.ts";

/** An attribute: its number, without flag bits, and its value. */
export type Attribute = readonly [type: number, value: Buffer];

/** A message from the kernel. */
export interface NetlinkMessage {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly body: Buffer;
}

const headerBytes = 16;
const attributeHeaderBytes = 4;
/** The upper bits mean "nested" and "big-endian". */
const typeMask = 0x3fff;
const nestedFlag = 0x8000;

/**
 * A request: length, type, flags, sequence, sender 0, then the body. All little-endian, like the
 * host.
 */
export function encodeMessage(type: number, flags: number, sequence: number, body: Buffer): Buffer {
  const message = Buffer.alloc(headerBytes + body.length);
  message.writeUInt32LE(message.length, 0);
  message.writeUInt16LE(type, 4);
  message.writeUInt16LE(flags, 6);
  message.writeUInt32LE(sequence, 8);
  body.copy(message, headerBytes);
  return message;
}

/**
 * The messages in the received bytes. Throws a {@link NetworkSetupError} on a length that makes no
 * sense.
 */
export function decodeMessages(bytes: Buffer): NetlinkMessage[] {
  const messages: NetlinkMessage[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + headerBytes > bytes.length) throw malformed("a message's header is truncated");
    const length = bytes.readUInt32LE(at);
    if (length < headerBytes || at + length > bytes.length)
      throw malformed("a message is truncated");
    messages.push({
      type: bytes.readUInt16LE(at + 4),
      flags: bytes.readUInt16LE(at + 6),
      sequence: bytes.readUInt32LE(at + 8),
      body: bytes.subarray(at + headerBytes, at + length),
    });
    at += aligned(length);
  }
  return messages;
}

/** Encodes attributes for the kernel. */
export function encodeAttributes(attributes: readonly Attribute[]): Buffer {
  return Buffer.concat(
    attributes.map(([type, value]) => {
      const length = attributeHeaderBytes + value.length;
      const bytes = Buffer.alloc(aligned(length));
      bytes.writeUInt16LE(length, 0);
      bytes.writeUInt16LE(type, 2);
      value.copy(bytes, attributeHeaderBytes);
      return bytes;
    }),
  );
}

/** An attribute that holds others. */
export function nested(type: number, attributes: readonly Attribute[]): Attribute {
  return [type | nestedFlag, encodeAttributes(attributes)];
}

/**
 * Attributes by number; the later of two wins. Throws a {@link NetworkSetupError} if one is
 * truncated.
 */
export function decodeAttributes(bytes: Buffer): Map<number, Buffer> {
  const attributes = new Map<number, Buffer>();
  for (let at = 0; at + attributeHeaderBytes <= bytes.length; ) {
    const length = bytes.readUInt16LE(at);
    if (length < attributeHeaderBytes || at + length > bytes.length) {
      throw malformed("an attribute is truncated");
    }
    const type = bytes.readUInt16LE(at + 2) & typeMask;
    attributes.set(type, bytes.subarray(at + attributeHeaderBytes, at + length));
    at += aligned(length);
  }
  return attributes;
}

/** A number as a four-byte value. */
export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value, 0);
  return bytes;
}

/** Text with the terminating NUL that the kernel expects. */
export function text(value: string): Buffer {
  return Buffer.from(`${value}\0`, "latin1");
}

/** The text of a value, up to its NUL; `""` if there is none. */
export function readText(value: Buffer | undefined): string {
  if (!value) return "";
  const end = value.indexOf(0);
  return value.toString("latin1", 0, end < 0 ? value.length : end);
}

/** The number in a four-byte value; undefined if it is missing or shorter. */
export function readU32(value: Buffer | undefined): number | undefined {
  return value && value.length >= 4 ? value.readUInt32LE(0) : undefined;
}

function aligned(length: number): number {
  return (length + 3) & ~3;
}

/** The error for an answer of the kernel, or of an impostor, that makes no sense. */
export function malformed(what: string): NetworkSetupError {
  const message = `the kernel's answer makes no sense: ${what}`;
  return new NetworkSetupError("NETWORK_MESSAGE_INVALID", message);
}
