/**
 * Decimals of any size: `mantissa * 10 ** scale`, in BigInt. Nothing here touches a float.
 *
 * The scale is part of the value's identity where Kubernetes shows it: `1.000` and `1` are equal but print
 * differently.
 */

export const maxInt64: bigint = 2n ** 63n - 1n;
export const minInt64: bigint = -(2n ** 63n);

/** Whether a whole number fits into the 64-bit integer in which Kubernetes stores most quantities. */
export function fitsInt64(value: bigint): boolean {
  return value >= minInt64 && value <= maxInt64;
}

const cached: readonly bigint[] = Array.from({ length: 64 }, (_, power) => 10n ** BigInt(power));

/** 10 to a power that is zero or more. */
export function powerOfTen(power: number): bigint {
  return cached[power] ?? 10n ** BigInt(power);
}

/** Drops `digits` decimal digits and rounds away from zero. */
export function dropDigitsAwayFromZero(mantissa: bigint, digits: number): bigint {
  if (mantissa === 0n) return 0n;
  // More digits are dropped than there are: no need to build a divisor that may be huge.
  if (digits > decimalDigits(mantissa)) return mantissa > 0n ? 1n : -1n;
  const divisor = powerOfTen(digits);
  const quotient = mantissa / divisor;
  if (quotient * divisor === mantissa) return quotient;
  return mantissa > 0n ? quotient + 1n : quotient - 1n;
}

/** The mantissa of the same number at another scale; rounds away from zero if that is coarser. */
export function rescaleAwayFromZero(mantissa: bigint, from: number, to: number): bigint {
  return to > from ? dropDigitsAwayFromZero(mantissa, to - from) : mantissa * powerOfTen(from - to);
}

/** Exact order of two decimals: -1, 0 or 1. Does not expand numbers that differ in magnitude. */
export function compareDecimals(a: bigint, aScale: number, b: bigint, bScale: number): -1 | 0 | 1 {
  const sign = signOf(a);
  if (sign !== signOf(b)) return sign < signOf(b) ? -1 : 1;
  if (sign === 0) return 0;
  if (Math.abs(aScale - bScale) > 40) {
    const aDigits = decimalDigits(a) + aScale;
    const bDigits = decimalDigits(b) + bScale;
    if (aDigits !== bDigits) return aDigits < bDigits === sign > 0 ? -1 : 1;
  }
  const scale = Math.min(aScale, bScale);
  const left = a * powerOfTen(aScale - scale);
  const right = b * powerOfTen(bScale - scale);
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** A decimal in full, such as `-0.050`: a negative scale shows as that many digits after the point. */
export function decimalText(mantissa: bigint, scale: number): string {
  const text = mantissa.toString();
  if (scale >= 0) return mantissa === 0n ? text : text + "0".repeat(scale);
  const negative = mantissa < 0n ? "-" : "";
  const digits = (negative ? text.slice(1) : text).padStart(1 - scale, "0");
  return `${negative}${digits.slice(0, scale)}.${digits.slice(scale)}`;
}

export function signOf(value: bigint): -1 | 0 | 1 {
  if (value === 0n) return 0;
  return value < 0n ? -1 : 1;
}

function decimalDigits(value: bigint): number {
  return value.toString().length - (value < 0n ? 1 : 0);
}
