import { type Amount, compareAmounts, int64Amount, signOfAmount } from "./amount.ts";
import { minInt64, powerOfTen } from "./decimal.ts";
import { binarySuffix, decimalSuffix, type QuantityFormat } from "./suffix.ts";

const lower = int64Amount(-1024, 0);
const upper = int64Amount(1024, 0);
const zero = 0x30;

/**
 * The canonical text of a number in a format: no fraction, the largest suffix that loses nothing.
 *
 * BinarySI becomes DecimalSI between -1024 and 1024 and for numbers that are not whole.
 */
export function canonicalText(amount: Amount, format: QuantityFormat): string {
  if (signOfAmount(amount) === 0) return "0";
  if (format !== "BinarySI") return decimalForm(amount, format);
  if (compareAmounts(amount, lower) > 0 && compareAmounts(amount, upper) < 0) {
    return decimalForm(amount, "DecimalSI");
  }
  const whole = wholeNumber(amount);
  return whole === undefined ? decimalForm(amount, "DecimalSI") : binaryForm(whole, amount.decimal);
}

function wholeNumber({ mantissa, scale }: Amount): number | bigint | undefined {
  if (scale === 0) return mantissa;
  if (scale > 0) return BigInt(mantissa) * powerOfTen(scale);
  const divisor = powerOfTen(-scale);
  const quotient = BigInt(mantissa) / divisor;
  return quotient * divisor === BigInt(mantissa) ? quotient : undefined;
}

function binaryForm(whole: number | bigint, decimal: boolean): string {
  // The smallest 64-bit integer overflows while Kubernetes looks for its factors.
  if (whole === minInt64 && !decimal) return whole.toString();
  let rest = whole;
  let power = 0;
  if (typeof rest === "bigint") {
    for (; rest % 1024n === 0n; rest /= 1024n) power++;
  } else {
    for (; rest % 1024 === 0; rest /= 1024) power++;
  }
  return `${rest}${binarySuffix(power)}`;
}

function decimalForm({ mantissa, scale }: Amount, format: QuantityFormat): string {
  const [rest, power] = withoutTrailingZeros(mantissa);
  const exponent = scale + power;
  // Down to the next multiple of three; the digits that this frees are zeros.
  const over = ((exponent % 3) + 3) % 3;
  return `${rest}${"0".repeat(over)}${decimalSuffix(exponent - over, format)}`;
}

function withoutTrailingZeros(value: number | bigint): [text: string, zeros: number] {
  const text = value.toString();
  let end = text.length;
  while (text.charCodeAt(end - 1) === zero) end--;
  return [text.slice(0, end), text.length - end];
}
