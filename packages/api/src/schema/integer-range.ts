import type { IntegerFormat } from "./schema.ts";

/** The smallest and the largest value of an integer, both included. */
export interface IntegerRange {
  readonly minimum: number;
  readonly maximum: number;
}

/**
 * The range of each {@link IntegerFormat}.
 *
 * A JSON number beyond 2^53 is already rounded when it is read, so the ends of the 64-bit ranges are the
 * rounded ones: `18446744073709551615` is read as 2^64 and must pass.
 */
export const integerRanges: Readonly<Record<IntegerFormat, IntegerRange>> = {
  int: { minimum: -(2 ** 63), maximum: 2 ** 63 },
  int32: { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  int64: { minimum: -(2 ** 63), maximum: 2 ** 63 },
  uint: { minimum: 0, maximum: 2 ** 64 },
  uint8: { minimum: 0, maximum: 2 ** 8 - 1 },
  uint32: { minimum: 0, maximum: 2 ** 32 - 1 },
  uint64: { minimum: 0, maximum: 2 ** 64 },
};
