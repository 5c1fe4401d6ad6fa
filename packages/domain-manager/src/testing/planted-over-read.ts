import { XdrReader } from "../libvirt/xdr/xdr-reader.ts";

/**
 * The reader with an intentional fault: it trusts the length of a string, whatever the message
 * contains. A test that finds real faults must find this one.
 */
export class PlantedOverRead extends XdrReader {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer, at = 0) {
    super(bytes, at);
    this.#bytes = bytes;
  }

  override string(limit: number): string {
    const length = this.u32();
    if (length > limit) return super.string(limit);
    const from = this.#bytes.byteOffset + this.#bytes.length - this.left;
    const padded = length + (-length & 3);
    if (padded <= this.left) this.fixed(padded);
    return Buffer.from(this.#bytes.buffer).toString("utf8", from, from + length);
  }
}
