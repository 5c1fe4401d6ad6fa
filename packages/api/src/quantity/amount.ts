import {
  compareDecimals,
  dropDigitsAwayFromZero,
  fitsInt64,
  maxInt64,
  minInt64,
  powerOfTen,
  rescaleAwayFromZero,
} from "./decimal.ts";

/**
 * The number behind a quantity: `mantissa * 10 ** scale`.
 *
 * Kubernetes stores a number in one of two ways, which decides how it rounds later, so the way is part of the
 * value. `decimal: false` is a 64-bit mantissa; `decimal: true` an unbounded one. A 64-bit mantissa is a
 * `number` if it is a safe integer, which nearly all are, so no BigInt is created for them.
 */
export type Amount =
  | { readonly decimal: false; readonly mantissa: number | bigint; readonly scale: number }
  | { readonly decimal: true; readonly mantissa: bigint; readonly scale: number };

const powers: readonly number[] = Array.from({ length: 16 }, (_, power) => 10 ** power);

/** A 64-bit amount. The caller has checked that the mantissa fits. */
export function int64Amount(mantissa: number | bigint, scale: number): Amount {
  if (typeof mantissa === "number") return { decimal: false, mantissa, scale };
  const small = Number(mantissa);
  return { decimal: false, mantissa: Number.isSafeInteger(small) ? small : mantissa, scale };
}

/** An amount of any size. */
export function decimalAmount(mantissa: bigint, scale: number): Amount {
  return { decimal: true, mantissa, scale };
}

/** `mantissa * 10 ** power` as a safe integer, or undefined if it is not one. */
function scaleSmall(mantissa: number | bigint, power: number): number | undefined {
  if (mantissa === 0) return 0;
  const factor = powers[power];
  if (factor === undefined || typeof mantissa === "bigint") return undefined;
  const product = mantissa * factor;
  return Number.isSafeInteger(product) ? product : undefined;
}

export function signOfAmount({ mantissa }: Amount): -1 | 0 | 1 {
  if (mantissa > 0) return 1;
  return mantissa < 0 ? -1 : 0;
}

/** Exact order of two amounts, however they are stored. */
export function compareAmounts(a: Amount, b: Amount): -1 | 0 | 1 {
  const scale = Math.min(a.scale, b.scale);
  const left = scaleSmall(a.mantissa, a.scale - scale);
  const right = scaleSmall(b.mantissa, b.scale - scale);
  if (left === undefined || right === undefined) {
    return compareDecimals(BigInt(a.mantissa), a.scale, BigInt(b.mantissa), b.scale);
  }
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/**
 * Sum at the finer of the two scales. Two 64-bit amounts give a 64-bit amount if both, at that scale, and the
 * sum fit; adding zero changes neither value nor scale.
 */
export function addAmounts(a: Amount, b: Amount): Amount {
  if (a.decimal || b.decimal) return addDecimals(a, b);
  if (b.mantissa === 0) return a;
  if (a.mantissa === 0) return b;
  const scale = Math.min(a.scale, b.scale);
  const left = scaleSmall(a.mantissa, a.scale - scale);
  const right = scaleSmall(b.mantissa, b.scale - scale);
  if (left !== undefined && right !== undefined && Number.isSafeInteger(left + right)) {
    return int64Amount(left + right, scale);
  }
  const x = BigInt(a.mantissa) * powerOfTen(a.scale - scale);
  const y = BigInt(b.mantissa) * powerOfTen(b.scale - scale);
  return fitsInt64(x) && fitsInt64(y) && fitsInt64(x + y)
    ? int64Amount(x + y, scale)
    : decimalAmount(x + y, scale);
}

function addDecimals(a: Amount, b: Amount): Amount {
  const scale = Math.min(a.scale, b.scale);
  const left = BigInt(a.mantissa) * powerOfTen(a.scale - scale);
  const right = BigInt(b.mantissa) * powerOfTen(b.scale - scale);
  return decimalAmount(left + right, scale);
}

/**
 * The negated number. The smallest 64-bit integer has no 64-bit negation and becomes a decimal; Kubernetes lets
 * it overflow back to itself.
 */
export function negateAmount(a: Amount): Amount {
  if (typeof a.mantissa === "number") return int64Amount(0 - a.mantissa, a.scale);
  if (a.decimal || a.mantissa === minInt64) return decimalAmount(-a.mantissa, a.scale);
  return int64Amount(-a.mantissa, a.scale);
}

/**
 * Product with a 64-bit integer. A 64-bit amount stays one only if the product fits and is also a 64-bit
 * integer: 0.5 * 3 continues as a decimal, as in Kubernetes.
 */
export function multiplyAmount(a: Amount, factor: bigint): Amount {
  if (a.decimal) return decimalAmount(a.mantissa * factor, a.scale);
  if (a.mantissa === 0) return a;
  if (factor === 0n) return int64Amount(0, 0);
  const mantissa = BigInt(a.mantissa);
  const product = mantissa * factor;
  return stays64Bits(mantissa, factor) && isWhole64(product, a.scale)
    ? int64Amount(product, a.scale)
    : decimalAmount(product, a.scale);
}

function stays64Bits(a: bigint, b: bigint): boolean {
  if (a === 1n || b === 1n) return true;
  return a !== minInt64 && b !== minInt64 && fitsInt64(a * b);
}

function isWhole64(mantissa: bigint, scale: number): boolean {
  if (scale > 19) return false;
  if (scale >= 0) return fitsInt64(mantissa * powerOfTen(scale));
  return scale > -20 && mantissa % powerOfTen(-scale) === 0n;
}

/** The amount at a scale at least as coarse as `scale`, rounded away from zero. */
export function roundAmountUp(a: Amount, scale: number): Amount {
  if (a.decimal) return decimalAmount(rescaleAwayFromZero(a.mantissa, a.scale, scale), scale);
  if (a.scale >= scale) return a;
  return int64Amount(dropDigitsAwayFromZero(BigInt(a.mantissa), scale - a.scale), scale);
}

/** The whole number that the amount is, if it is one and stored in 64 bits at a scale of 0 or more. */
export function amountAsInt64(a: Amount): bigint | undefined {
  if (a.decimal || a.scale < 0) return undefined;
  if (a.mantissa === 0) return 0n;
  if (a.scale > 19) return undefined;
  const value = BigInt(a.mantissa) * powerOfTen(a.scale);
  return fitsInt64(value) ? value : undefined;
}

/** How many times `10 ** scale` the amount is, rounded as Kubernetes does: see `scaleDecimal`. */
export function scaledAmount(a: Amount, scale: number): bigint {
  if (a.decimal) return scaleDecimal(a.mantissa, scale - a.scale);
  if (a.scale < scale) return dropDigitsAwayFromZero(BigInt(a.mantissa), scale - a.scale);
  const small = scaleSmall(a.mantissa, a.scale - scale);
  return BigInt(small ?? BigInt(a.mantissa) * powerOfTen(a.scale - scale));
}

/**
 * Divides by a power of ten with Kubernetes's rounding of decimals. Up to 18 digits: truncates and adds one if
 * anything was cut, whatever the sign, on the low 64 bits of a negative mantissa (which is why the value of
 * -9223372036854775808 is 0 there). More digits: rounds up. Positive numbers are exact even beyond 64 bits.
 */
function scaleDecimal(mantissa: bigint, digits: number): bigint {
  if (digits <= 0) return mantissa * powerOfTen(-digits);
  const divisor = powerOfTen(digits);
  if (mantissa < maxInt64 && digits < 19) {
    const low = BigInt.asIntN(64, mantissa);
    const quotient = low / divisor;
    return low % divisor === 0n ? quotient : quotient + 1n;
  }
  const quotient = mantissa / divisor;
  return mantissa > 0n && mantissa % divisor !== 0n ? quotient + 1n : quotient;
}
