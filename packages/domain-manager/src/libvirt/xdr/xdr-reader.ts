import { LibvirtError } from "../libvirt-error.ts";

/**
 * Reads XDR (RFC 4506: big endian, in steps of four bytes) from one message.
 *
 * Nothing is read beyond the message, and nothing is allocated for a length or a count that the
 * message cannot hold: every such lie is a {@link LibvirtError} with the code `LIBVIRT_PROTOCOL`.
 */
export class XdrReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #end: number;
  #at: number;

  /** Starts at an offset of the message; by default at its beginning. */
  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = at;
    this.#end = bytes.byteLength;
  }

  /** How many bytes have not been read yet. */
  get left(): number {
    return this.#end - this.#at;
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4));
  }

  i32(): number {
    return this.#view.getInt32(this.#take(4));
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8));
  }

  i64(): bigint {
    return this.#view.getBigInt64(this.#take(8));
  }

  double(): number {
    return this.#view.getFloat64(this.#take(8));
  }

  /** XDR allows 0 and 1 only. */
  bool(): boolean {
    const value = this.u32();
    if (value > 1) throw malformed(`a boolean is 0 or 1, found ${value} at byte ${this.#at - 4}`);
    return value === 1;
  }

  /** Text with its length in front. Bytes that are not UTF-8 become U+FFFD. */
  string(limit: number): string {
    const length = this.#length(limit, "string");
    const from = this.#take(length + (-length & 3));
    return this.#bytes.toString("utf8", from, from + length);
  }

  /** Bytes with their length in front; a copy, so that it does not keep the message alive. */
  bytes(limit: number): Buffer {
    const length = this.#length(limit, "byte string");
    return this.fixed(length);
  }

  /** A fixed number of bytes; a copy. */
  fixed(length: number): Buffer {
    const from = this.#take(length + (-length & 3));
    return Buffer.from(this.#bytes.subarray(from, from + length));
  }

  /** Sixteen bytes as `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`. */
  uuid(): string {
    const from = this.#take(16);
    const hex = this.#bytes.toString("hex", from, from + 16);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  /** The count of a list whose items take at least `smallest` bytes each. */
  count(limit: number, smallest: number): number {
    const count = this.u32();
    if (count > limit) throw malformed(`a list has ${count} items, at most ${limit} are allowed`);
    if (count * smallest > this.left) {
      throw malformed(`a list of ${count} items does not fit into the ${this.left} bytes left`);
    }
    return count;
  }

  #length(limit: number, what: string): number {
    const length = this.u32();
    if (length > limit) {
      throw malformed(`a ${what} has ${length} bytes, at most ${limit} are allowed`);
    }
    return length;
  }

  #take(length: number): number {
    const from = this.#at;
    if (length > this.#end - from) {
      throw malformed(`${length} bytes wanted at byte ${from}, only ${this.#end - from} are left`);
    }
    this.#at = from + length;
    return from;
  }
}

/** The error for a message that the protocol does not allow. */
export function malformed(message: string): LibvirtError {
  return new LibvirtError("LIBVIRT_PROTOCOL", message);
}
