import { LibvirtError } from "../libvirt-error.ts";

/**
 * Writes XDR into a buffer that grows as needed.
 *
 * A value that cannot be encoded is a {@link LibvirtError} with the code `LIBVIRT_ARGUMENT`.
 */
export class XdrWriter {
  #bytes: Buffer;
  #at: number;

  /** Leaves room at the beginning, for a header that is written last. */
  constructor(room = 0) {
    this.#bytes = Buffer.allocUnsafe(room + 228);
    this.#at = room;
  }

  /** What was written, including the room at the beginning. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  u32(value: number): void {
    if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) {
      throw unfit(value, "an integer from 0 to 4294967295");
    }
    this.#reserve(4);
    this.#at = this.#bytes.writeUInt32BE(value, this.#at);
  }

  i32(value: number): void {
    if (!Number.isInteger(value) || value < -0x80000000 || value > 0x7fffffff) {
      throw unfit(value, "an integer from -2147483648 to 2147483647");
    }
    this.#reserve(4);
    this.#at = this.#bytes.writeInt32BE(value, this.#at);
  }

  u64(value: bigint | number): void {
    const wide = toBigInt(value);
    if (wide < 0n || wide >= 1n << 64n) throw unfit(value, "an integer from 0 to 2^64-1");
    this.#reserve(8);
    this.#at = this.#bytes.writeBigUInt64BE(wide, this.#at);
  }

  i64(value: bigint | number): void {
    const wide = toBigInt(value);
    if (wide < -(1n << 63n) || wide >= 1n << 63n) throw unfit(value, "an integer of 64 bits");
    this.#reserve(8);
    this.#at = this.#bytes.writeBigInt64BE(wide, this.#at);
  }

  double(value: number): void {
    if (typeof value !== "number") throw unfit(value, "a number");
    this.#reserve(8);
    this.#at = this.#bytes.writeDoubleBE(value, this.#at);
  }

  bool(value: boolean): void {
    if (typeof value !== "boolean") throw unfit(value, "true or false");
    this.u32(value ? 1 : 0);
  }

  string(value: string, limit: number): void {
    if (typeof value !== "string") throw unfit(value, "text");
    // The C side would see a shorter string than the one that was checked.
    if (value.includes("\0")) throw unfit(value, "text without the character U+0000");
    const length = Buffer.byteLength(value);
    this.#length(length, limit);
    this.#bytes.write(value, this.#at, "utf8");
    this.#pad(length);
  }

  bytes(value: Uint8Array, limit: number): void {
    if (!(value instanceof Uint8Array)) throw unfit(value, "a Uint8Array");
    this.#length(value.length, limit);
    this.#bytes.set(value, this.#at);
    this.#pad(value.length);
  }

  uuid(value: string): void {
    if (typeof value !== "string" || !uuidPattern.test(value)) throw unfit(value, "a UUID");
    this.#reserve(16);
    const bytes = this.#bytes;
    let at = this.#at;
    for (let i = 0; i < value.length; i += 2) {
      if (value.charCodeAt(i) === dash) i++;
      bytes[at++] = (nibble(value.charCodeAt(i)) << 4) | nibble(value.charCodeAt(i + 1));
    }
    this.#at = at;
  }

  count(value: number, limit: number): void {
    if (value > limit) throw unfit(value, `at most ${limit} items`);
    this.u32(value);
  }

  #length(length: number, limit: number): void {
    if (length > limit) throw unfit(length, `at most ${limit} bytes`);
    this.#reserve(4 + length + 3);
    this.#at = this.#bytes.writeUInt32BE(length, this.#at);
  }

  #pad(length: number): void {
    const padding = -length & 3;
    this.#at += length;
    this.#bytes.fill(0, this.#at, this.#at + padding);
    this.#at += padding;
  }

  #reserve(length: number): void {
    if (this.#at + length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + length));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

const dash = 0x2d;

/** The value of a hexadecimal digit, of either case. */
function nibble(code: number): number {
  return (code & 0xf) + (code >> 6) * 9;
}

const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

function toBigInt(value: bigint | number): bigint {
  if (typeof value === "bigint") return value;
  if (!Number.isSafeInteger(value)) throw unfit(value, "a bigint or a safe integer");
  return BigInt(value);
}

/** The error for an argument that cannot be sent. */
export function unfit(value: unknown, wanted: string): LibvirtError {
  const found = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : String(value);
  return new LibvirtError("LIBVIRT_ARGUMENT", `expected ${wanted}, found ${found}`);
}
