/**
 * How a quantity is written. `""` is what JSON `null` decodes to; it is written like
 * `DecimalExponent`.
 */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent" | "";

/**
 * Largest power of ten, up or down, of a quantity. Kubernetes has no such limit and exhausts its
 * memory on `1e999999999` as soon as something compares it.
 */
export const maxQuantityExponent = 100_000;

/** What a suffix multiplies by: `base ** exponent`. */
export interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

const decimalSuffixes: readonly (readonly [string, number])[] = [
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
];

const binarySuffixes: readonly (readonly [string, number])[] = [
  ["Ki", 10],
  ["Mi", 20],
  ["Gi", 30],
  ["Ti", 40],
  ["Pi", 50],
  ["Ei", 60],
];

const byText: ReadonlyMap<string, Suffix> = new Map<string, Suffix>([
  ...decimalSuffixes.map(
    ([text, exponent]) => [text, { base: 10, exponent, format: "DecimalSI" }] as const,
  ),
  ...binarySuffixes.map(
    ([text, exponent]) => [text, { base: 2, exponent, format: "BinarySI" }] as const,
  ),
]);

const byPowerOfTen: ReadonlyMap<number, string> = new Map(
  decimalSuffixes.map(([text, exponent]) => [exponent, text]),
);

const byPowerOf1024: ReadonlyMap<number, string> = new Map(
  binarySuffixes.map(([text, exponent]) => [exponent / 10, text]),
);

const exponentText = /^[eE]([+-]?[0-9]+)$/;

/** What a suffix means, or undefined if it is unknown. */
export function interpretSuffix(text: string): Suffix | undefined {
  return byText.get(text) ?? interpretExponent(text);
}

/** Exponents are read as 64-bit integers and then cut to 32 bits: `e4294967299` is `e3`. */
function interpretExponent(text: string): Suffix | undefined {
  const digits = exponentText.exec(text)?.[1];
  if (digits === undefined) return undefined;
  const exponent = BigInt(digits.startsWith("+") ? digits.slice(1) : digits);
  if (exponent !== BigInt.asIntN(64, exponent)) return undefined;
  const cut = Number(BigInt.asIntN(32, exponent));
  return { base: 10, exponent: cut, format: "DecimalExponent" };
}

/**
 * Suffix for a power of ten that is a multiple of three. Powers without a letter (beyond `E`, below
 * `n`) get none at all in DecimalSI: Kubernetes writes `1000E` as `1`.
 */
export function decimalSuffix(exponent: number, format: QuantityFormat): string {
  if (format === "DecimalSI") return byPowerOfTen.get(exponent) ?? "";
  return exponent === 0 ? "" : `e${exponent}`;
}

/** Suffix for a power of 1024; beyond `Ei` there is none, and none is written. */
export function binarySuffix(power: number): string {
  return byPowerOf1024.get(power) ?? "";
}
