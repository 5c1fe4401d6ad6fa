import type { Amount } from "./amount.ts";

/**
 * The float that Kubernetes shows for an amount: mantissa times power of ten, each rounded separately, so that
 * 5u becomes 4.9999999999999996e-06.
 */
export function approximateFloat({ mantissa, scale }: Amount): number {
  return scale === 0 ? Number(mantissa) : Number(mantissa) * floatPowerOfTen(scale);
}

/**
 * 10 ** power like Go's math.Pow10: the product (or quotient) of a coarse and a fine step, 0 below all floats,
 * infinite above.
 */
function floatPowerOfTen(power: number): number {
  if (power < -323) return 0;
  if (power > 308) return Number.POSITIVE_INFINITY;
  const fine = Math.abs(power) % 32;
  const coarse = Math.abs(power) - fine;
  return power < 0
    ? Number(`1e-${coarse}`) / Number(`1e${fine}`)
    : Number(`1e${coarse}`) * Number(`1e${fine}`);
}
