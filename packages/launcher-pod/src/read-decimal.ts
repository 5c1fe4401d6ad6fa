/**
 * A decimal number in text, as Go's strconv reads it; undefined for all else. Its hexadecimal
 * numbers, infinities and NaN are left out: nothing that is read here can be one of them.
 */
export function readDecimal(text: string | undefined): number | undefined {
  if (!text || !/^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}
