import { ApiError } from "../api-error.ts";
import {
  type Amount,
  addAmounts,
  amountAsInt64,
  compareAmounts,
  decimalAmount,
  int64Amount,
  multiplyAmount,
  negateAmount,
  roundAmountUp,
  scaledAmount,
  signOfAmount,
} from "./amount.ts";
import { approximateFloat } from "./approximate-float.ts";
import { canonicalText } from "./canonical-text.ts";
import { decimalText, fitsInt64 } from "./decimal.ts";
import { maxQuantityExponent, type QuantityFormat } from "./suffix.ts";

/**
 * An amount of a resource as Kubernetes counts it: exact, of any size, and with the format in which it was written.
 * Immutable; every operation returns a new one. Created by `parseQuantity`, `quantityFrom`, `newQuantity` and
 * similar functions.
 *
 * @example
 * ```ts
 * parseQuantity("1.5Gi").add(parseQuantity("512Mi")).toString(); // "2Gi"
 * ```
 */
export class Quantity {
  /** The number itself. */
  readonly amount: Amount;
  /** How it is written. */
  readonly format: QuantityFormat;
  #text: string | undefined;

  /** `spelling`: the text to write instead of the canonical one. */
  constructor(amount: Amount, format: QuantityFormat, spelling?: string) {
    this.amount = amount;
    this.format = format;
    this.#text = spelling;
  }

  /** Sum. The format is this one's, or the other's if this is zero. */
  add(other: Quantity): Quantity {
    return new Quantity(addAmounts(this.amount, other.amount), this.#formatWith(other));
  }

  /** Difference. The format is this one's, or the other's if this is zero. */
  sub(other: Quantity): Quantity {
    const amount = addAmounts(this.amount, negateAmount(other.amount));
    return new Quantity(amount, this.#formatWith(other));
  }

  /** Product with a whole number. */
  mul(factor: number | bigint): Quantity {
    return new Quantity(multiplyAmount(this.amount, BigInt(whole(factor))), this.format);
  }

  neg(): Quantity {
    return new Quantity(negateAmount(this.amount), this.format);
  }

  /** -1, 0 or 1, exactly: this against the other. */
  cmp(other: Quantity): -1 | 0 | 1 {
    return compareAmounts(this.amount, other.amount);
  }

  /** Whether both are the same number, however written. */
  equals(other: Quantity): boolean {
    return this.cmp(other) === 0;
  }

  sign(): -1 | 0 | 1 {
    return signOfAmount(this.amount);
  }

  isZero(): boolean {
    return this.sign() === 0;
  }

  /** Whole units, rounded up: see {@link scaledValue}. */
  value(): bigint {
    return scaledAmount(this.amount, 0);
  }

  /** Thousandths, rounded up: see {@link scaledValue}. */
  milliValue(): bigint {
    return scaledAmount(this.amount, -3);
  }

  /**
   * Multiples of `10 ** scale`. The remainder rounds away from zero, except in negative numbers that do not fit
   * into 64 bits with nine decimals, where Kubernetes's own odd answers are kept. A result beyond 64 bits is
   * returned in full; in Kubernetes it overflows.
   */
  scaledValue(scale: number): bigint {
    return scaledAmount(this.amount, checkedScale(scale));
  }

  /** {@link value} as a number, or undefined if a number cannot hold it exactly. */
  asSafeInteger(): number | undefined {
    const { mantissa, scale, decimal } = this.amount;
    if (scale === 0 && typeof mantissa === "number" && !decimal) return mantissa;
    const value = Number(this.value());
    return Number.isSafeInteger(value) ? value : undefined;
  }

  /**
   * The whole number that this is, if Kubernetes has it in 64 bits. Undefined for fractions, for numbers that
   * are too large, and for everything that was read through a decimal, such as `1.5Gi`.
   */
  asInt64(): bigint | undefined {
    return amountAsInt64(this.amount);
  }

  /** A float near the number; infinite if it is beyond all floats. For display and ratios only. */
  approximateFloat64(): number {
    return approximateFloat(this.amount);
  }

  /** Rounds away from zero to multiples of `10 ** scale`. */
  roundUp(scale: number): Quantity {
    const rounded = roundAmountUp(this.amount, checkedScale(scale));
    return rounded === this.amount ? this : new Quantity(rounded, this.format);
  }

  /** The number in full, such as `1610612736.000000000`. Trailing zeros show the precision. */
  toDecimalText(): string {
    return decimalText(BigInt(this.amount.mantissa), this.amount.scale);
  }

  /** The canonical text of this number in this format, whatever its spelling. */
  canonical(): string {
    return canonicalText(this.amount, this.format);
  }

  /**
   * What Kubernetes writes: the canonical form, unless the parsed text looked canonical enough to keep (`+1`,
   * `5.` and `2E3` are kept).
   */
  toString(): string {
    this.#text ??= this.canonical();
    return this.#text;
  }

  toJSON(): string {
    return this.toString();
  }

  #formatWith(other: Quantity): QuantityFormat {
    return this.isZero() ? other.format : this.format;
  }
}

/** A quantity of whole units. Throws an `ApiError` if the number is not whole. */
export function newQuantity(value: number | bigint, format: QuantityFormat): Quantity {
  return new Quantity(amountOf(value, 0), format);
}

/** A quantity of bytes, written with `Ki`, `Mi`, `Gi`, ... */
export function fromBytes(bytes: number | bigint): Quantity {
  return newQuantity(bytes, "BinarySI");
}

/** A quantity of thousandths. */
export function newMilliQuantity(value: number | bigint, format: QuantityFormat): Quantity {
  return new Quantity(amountOf(value, -3), format);
}

/** A quantity of multiples of `10 ** scale`, in DecimalSI. */
export function newScaledQuantity(value: number | bigint, scale: number): Quantity {
  return new Quantity(amountOf(value, checkedScale(scale)), "DecimalSI");
}

function amountOf(value: number | bigint, scale: number): Amount {
  const mantissa = whole(value);
  return typeof mantissa === "number" || fitsInt64(mantissa)
    ? int64Amount(mantissa, scale)
    : decimalAmount(mantissa, scale);
}

function whole(value: number | bigint): number | bigint {
  // Adding 0 turns -0 into 0.
  if (typeof value === "bigint") return value;
  if (Number.isSafeInteger(value)) return value + 0;
  if (Number.isInteger(value)) return BigInt(value);
  const message = `${value} is not a whole number; give an integer, or text to parseQuantity`;
  throw new ApiError("API_QUANTITY_INVALID", message);
}

function checkedScale(scale: number): number {
  if (Number.isInteger(scale) && Math.abs(scale) <= maxQuantityExponent) return scale;
  const message = `the scale ${scale} is not a whole number of at most ${maxQuantityExponent}; use a smaller one`;
  throw new ApiError("API_QUANTITY_INVALID", message);
}
