import { type Quantity, quantityFrom } from "@virtkit/api/quantity";
import type { QuantityInput } from "@virtkit/api/schema";
import { invalidVmi } from "../converter-error.ts";

/** A whole number of bytes; a bigint only above 2^53. */
export type ByteCount = number | bigint;

/** A field of the VMI as a quantity; an invalid one is an error with the field's path. */
export function quantityAt(value: QuantityInput, path: string): Quantity {
  try {
    return quantityFrom(value);
  } catch {
    throw invalidVmi(path, `${JSON.stringify(value)} is not a quantity; write it as 512Mi or 2G`);
  }
}

const maxBytes = 2n ** 63n - 1n;

/**
 * The bytes of an amount of memory. An amount that Kubernetes cannot hold as a 64-bit integer, such as `1.5Gi`
 * or `100m`, rounds up and then loses one byte, as in KubeVirt. An amount of more than 64 bits is an error.
 */
export function bytesOf(quantity: Quantity, path: string): ByteCount {
  const bytes = safeInteger(quantity) ?? small(quantity.asInt64() ?? quantity.value() - 1n);
  if (bytes < 0) throw invalidVmi(path, `${quantity} is negative; use 0 or more`);
  if (bytes > maxBytes)
    throw invalidVmi(path, `${quantity} is more than ${maxBytes} bytes; use a smaller amount`);
  return bytes;
}

/** Nearly every quantity is a whole number that needs no BigInt. */
function safeInteger({ amount }: Quantity): number | undefined {
  const { decimal, mantissa, scale } = amount;
  return !decimal && scale === 0 && typeof mantissa === "number" ? mantissa : undefined;
}

/** A number if it is exact. */
export function small(value: bigint): ByteCount {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
