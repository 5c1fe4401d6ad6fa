import type { XdrReader } from "./xdr-reader.ts";
import type { XdrWriter } from "./xdr-writer.ts";

/** Reads and writes one kind of value. */
export interface Codec {
  /** The fewest bytes that a value takes; bounds the count of a list before it is allocated. */
  readonly smallest: number;
  read(from: XdrReader): unknown;
  write(to: XdrWriter, value: unknown): void;
}

/** The protocol's limit for a string, in bytes. */
export const stringLimit = 4_194_304;
