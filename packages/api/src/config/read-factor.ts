const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Parses a factor; `NaN` if it is not a number, is infinite, or has more than three decimals. */
export function readFactor(text: string): number {
  const trimmed = text.trim();
  const value = number.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (!Number.isFinite(value)) return Number.NaN;
  return Math.abs(value - Number(value.toFixed(3))) > 1e-9 ? Number.NaN : value;
}
