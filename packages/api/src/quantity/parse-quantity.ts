import { ApiError } from "../api-error.ts";
import { type Amount, decimalAmount, int64Amount } from "./amount.ts";
import { compareDecimals, maxInt64, powerOfTen, rescaleAwayFromZero } from "./decimal.ts";
import { newQuantity, Quantity } from "./quantity.ts";
import { maxQuantityLength, type ScannedQuantity, scanQuantity } from "./scan-quantity.ts";
import {
  interpretSuffix,
  maxQuantityExponent,
  type QuantityFormat,
  type Suffix,
} from "./suffix.ts";

const suffixShape = /^[eEinumkKMGTP]*[-+]?[0-9]*$/;

/** The finest step of a quantity: a billionth. Finer values round up to it. */
const nano = -9;

/** Why a string is not a quantity: the code of the error that `parseQuantity` throws. */
export type QuantityFault =
  | "API_QUANTITY_SHAPE"
  | "API_QUANTITY_SUFFIX"
  | "API_QUANTITY_DIGITS"
  | "API_QUANTITY_SIZE";

/**
 * Parses a quantity as Kubernetes does, odd spellings included: `5.`, `.5Gi`, `+1`, `Gi` (zero) and `-` (zero) are
 * all quantities.
 *
 * A value finer than a billionth is rounded away from zero; with a binary suffix, values are capped at 2^63-1.
 * Throws an `ApiError` whose code is a {@link QuantityFault} for anything else, and for input on which Kubernetes
 * would exhaust its memory: exponents over {@link maxQuantityExponent}, text over 4096 characters.
 */
export function parseQuantity(text: string): Quantity {
  const quantity = readQuantity(text);
  if (quantity instanceof Quantity) return quantity;
  const shown = text.length > 64 ? `${text.slice(0, 64)}...` : text;
  throw new ApiError(quantity, `"${shown}" is not a quantity: ${advice[quantity]}`);
}

const advice: Readonly<Record<QuantityFault, string>> = {
  API_QUANTITY_SHAPE: "write a number and a suffix, for example 1500m, 64Mi or 2e3",
  API_QUANTITY_SUFFIX:
    "use one of n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3, as suffix",
  API_QUANTITY_DIGITS: "there is no digit before the suffix",
  API_QUANTITY_SIZE: `use an exponent of at most ${maxQuantityExponent} and at most ${maxQuantityLength} characters`,
};

/** Like {@link parseQuantity}, but returns what is wrong instead of throwing. */
export function readQuantity(text: string): Quantity | QuantityFault {
  if (text.length > maxQuantityLength) return "API_QUANTITY_SIZE";
  if (text === "") return "API_QUANTITY_SHAPE";
  const scanned = scanQuantity(text);
  const suffix = interpretSuffix(scanned.suffix);
  if (suffix === undefined)
    return suffixShape.test(scanned.suffix) ? "API_QUANTITY_SUFFIX" : "API_QUANTITY_SHAPE";
  if (Math.abs(suffix.exponent) > maxQuantityExponent) return "API_QUANTITY_SIZE";
  return readInt64(text, scanned, suffix) ?? readDecimal(scanned, suffix);
}

/** Reads any JSON value that represents a quantity. A number is read as its JSON text. */
export function quantityFrom(value: string | number | bigint | Quantity): Quantity {
  if (value instanceof Quantity) return value;
  if (typeof value === "string") return parseQuantity(value);
  return Number.isInteger(value) || typeof value === "bigint"
    ? newQuantity(value, "DecimalSI")
    : parseQuantity(String(value));
}

/** Numbers short enough for 64 bits, which are nearly all; undefined for the rest. */
function readInt64(text: string, scanned: ScannedQuantity, suffix: Suffix): Quantity | undefined {
  const { whole, fraction, negative } = scanned;
  if (!fitsShort(whole.length, fraction.length, suffix)) return undefined;
  const digits = whole + fraction;
  const read = digits.length > 15 ? BigInt(digits) : Number(digits);
  const { format } = suffix;
  if (suffix.base === 2) {
    // At most 15 digits in total: a safe integer.
    const value = Number(read) * 2 ** suffix.exponent;
    const amount = int64Amount(negative ? 0 - value : value, 0);
    return new Quantity(amount, format, Number(read) % 8 !== 0 ? text : undefined);
  }
  const scale = suffix.exponent - fraction.length;
  const amount = int64Amount(negative ? negated(read) : read, scale);
  return new Quantity(amount, format, keepsSpelling(digits, scale) ? text : undefined);
}

function negated(value: number | bigint): number | bigint {
  return typeof value === "bigint" ? -value : 0 - value;
}

/** Kubernetes's estimate of what fits; anything else becomes a decimal, which shows later. */
function fitsShort(whole: number, fraction: number, { base, exponent }: Suffix): boolean {
  if (base === 2) return fraction === 0 && whole + (exponent * 3) / 10 <= 14;
  return whole + fraction <= 18 && exponent - fraction >= nano;
}

/** Kubernetes's cheap test of whether a string is already canonical. */
function keepsSpelling(digits: string, scale: number): boolean {
  return scale % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0");
}

function readDecimal(scanned: ScannedQuantity, suffix: Suffix): Quantity | QuantityFault {
  if (!scanned.hasDigits) return "API_QUANTITY_DIGITS";
  const { amount, format } = limited(unlimited(scanned, suffix), suffix.format);
  const mantissa = BigInt(amount.mantissa);
  return new Quantity(decimalAmount(scanned.negative ? -mantissa : mantissa, amount.scale), format);
}

function unlimited({ whole, fraction }: ScannedQuantity, { base, exponent }: Suffix): Amount {
  const mantissa = BigInt(whole + fraction);
  return base === 2
    ? decimalAmount(mantissa << BigInt(exponent), -fraction.length)
    : decimalAmount(mantissa, exponent - fraction.length);
}

/** Rounds non-zero values to billionths; caps binary formats; writes binary fractions as decimal. */
function limited(
  { mantissa, scale }: Amount,
  format: QuantityFormat,
): { amount: Amount; format: QuantityFormat } {
  if (mantissa === 0n) return { amount: decimalAmount(0n, scale), format };
  const rounded = rescaleAwayFromZero(BigInt(mantissa), scale, nano);
  if (format === "BinarySI") {
    if (compareDecimals(rounded, nano, maxInt64, 0) > 0) {
      return { amount: decimalAmount(maxInt64, 0), format };
    }
    if (rounded < powerOfTen(-nano)) {
      return { amount: decimalAmount(rounded, nano), format: "DecimalSI" };
    }
  }
  return { amount: decimalAmount(rounded, nano), format };
}
