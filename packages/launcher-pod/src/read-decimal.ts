const decimal = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/;

/**
 * A decimal number in text, as Go's strconv reads it: underscores are allowed between digits. Undefined for
 * anything else. Hexadecimal numbers, infinities and NaN are left out: nothing that is read here can be one of
 * them.
 */
export function readDecimal(text: string | undefined): number | undefined {
  const digits = text?.replace(/(?<=[0-9])_(?=[0-9])/g, "");
  if (!digits || !decimal.test(digits)) return undefined;
  const number = Number(digits);
  return Number.isFinite(number) ? number : undefined;
}
