import fc from "fast-check";
import { expect, test } from "vitest";
import { parseQuantity } from "./parse-quantity.ts";
import {
  fromBytes,
  newMilliQuantity,
  newQuantity,
  newScaledQuantity,
  type Quantity,
} from "./quantity.ts";

/** Billionths in each suffix. */
const factors = {
  n: 1n,
  u: 10n ** 3n,
  m: 10n ** 6n,
  "": 10n ** 9n,
  k: 10n ** 12n,
  M: 10n ** 15n,
  G: 10n ** 18n,
  T: 10n ** 21n,
  Ki: 2n ** 10n * 10n ** 9n,
  Mi: 2n ** 20n * 10n ** 9n,
  Gi: 2n ** 30n * 10n ** 9n,
  Ti: 2n ** 40n * 10n ** 9n,
};

const absolute = (value: bigint): bigint => (value < 0n ? -value : value);

/** A quantity of a few billionths up to far beyond 64 bits, as text, with its exact number of billionths. */
const quantity = fc
  .record({
    digits: fc.oneof(fc.bigInt(-2000n, 2000n), fc.bigInt(-(10n ** 21n), 10n ** 21n)),
    suffix: fc.constantFrom(...(Object.keys(factors) as (keyof typeof factors)[])),
  })
  .map(({ digits, suffix }) => ({ text: `${digits}${suffix}`, nano: digits * factors[suffix] }))
  // A binary suffix caps at 2^63-1.
  .filter(({ text, nano }) => !text.endsWith("i") || absolute(nano) < 2n ** 63n * 10n ** 9n);

/** The exact number of billionths, from the decimal text. */
function billionths(value: Quantity): bigint {
  const [whole = "", fraction = ""] = value.toDecimalText().split(".");
  return BigInt(whole + fraction.padEnd(9, "0"));
}

test("sums, differences and products are exact at every size", () => {
  fc.assert(
    fc.property(quantity, quantity, fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (a, b, factor) => {
      const [x, y] = [parseQuantity(a.text), parseQuantity(b.text)];
      expect(billionths(x)).toBe(a.nano);
      expect(billionths(x.add(y))).toBe(a.nano + b.nano);
      expect(billionths(x.sub(y))).toBe(a.nano - b.nano);
      expect(billionths(x.neg())).toBe(-a.nano);
      expect(billionths(x.mul(factor))).toBe(a.nano * factor);
    }),
    { numRuns: 2000 },
  );
});

test("control: the same quantities expose float arithmetic", () => {
  const inFloats = fc.property(
    quantity,
    quantity,
    (a, b) => BigInt(Number(a.nano) + Number(b.nano)) === a.nano + b.nano,
  );
  expect(fc.check(inFloats).failed).toBe(true);
});

test("the order of quantities is the order of their numbers", () => {
  fc.assert(
    fc.property(quantity, quantity, (a, b) => {
      const order = a.nano === b.nano ? 0 : a.nano < b.nano ? -1 : 1;
      expect(parseQuantity(a.text).cmp(parseQuantity(b.text))).toBe(order);
      expect(parseQuantity(a.text).equals(parseQuantity(b.text))).toBe(order === 0);
    }),
    { numRuns: 2000 },
  );
});

test("values of positive quantities round up, at every size", () => {
  fc.assert(
    fc.property(quantity, fc.constantFrom(-9, -6, -3, 0, 3, 9), ({ text, nano }, scale) => {
      fc.pre(nano >= 0n);
      const unit = 10n ** BigInt(scale + 9);
      expect(parseQuantity(text).scaledValue(scale)).toBe((nano + unit - 1n) / unit);
      expect(billionths(parseQuantity(text).roundUp(scale))).toBe(
        ((nano + unit - 1n) / unit) * unit,
      );
    }),
    { numRuns: 2000 },
  );
});

test("reading the canonical form gives the same number and the same form", () => {
  fc.assert(
    fc.property(quantity, ({ text }) => {
      const first = parseQuantity(text);
      // There is no suffix beyond E and Ei, and Kubernetes writes none.
      fc.pre(absolute(billionths(first)) < 10n ** 30n);
      const again = parseQuantity(first.canonical());
      expect(again.canonical()).toBe(first.canonical());
      expect(again.equals(first)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test("returns a safe integer only if it equals the value", () => {
  fc.assert(
    fc.property(quantity, ({ text }) => {
      const parsed = parseQuantity(text);
      const number = parsed.asSafeInteger();
      if (number === undefined) expect(Number.isSafeInteger(Number(parsed.value()))).toBe(false);
      else expect(BigInt(number)).toBe(parsed.value());
    }),
  );
});

test("operations do not change their operands", () => {
  const [a, b] = [parseQuantity("1Gi"), parseQuantity("1.5Gi")];
  a.add(b);
  a.sub(b);
  a.mul(3);
  a.neg();
  a.cmp(b);
  b.roundUp(12);
  expect([String(a), String(b)]).toEqual(["1Gi", "1536Mi"]);
});

test("zero takes the format of what is added to it, anything else keeps its own", () => {
  const zero = newQuantity(0, "DecimalExponent");
  expect(zero.add(parseQuantity("1Gi")).toString()).toBe("1Gi");
  expect(zero.sub(parseQuantity("1Gi")).toString()).toBe("-1Gi");
  expect(parseQuantity("1k").add(parseQuantity("1Ki")).toString()).toBe("2024");
  expect(parseQuantity("24").add(parseQuantity("1Ki")).format).toBe("DecimalSI");
});

test.each([
  [newQuantity(1024, "BinarySI"), "1Ki"],
  [newQuantity(1023, "BinarySI"), "1023"],
  [newQuantity(1000, "BinarySI"), "1k"],
  [newQuantity(-2048, "BinarySI"), "-2Ki"],
  [newQuantity(-0, "DecimalSI"), "0"],
  [newQuantity(10_000, "DecimalExponent"), "10e3"],
  [newQuantity(2 ** 60, "BinarySI"), "1Ei"],
  [newQuantity(2n ** 70n, "DecimalSI"), "1180591620717411303424"],
  [newMilliQuantity(1500, "BinarySI"), "1500m"],
  [newMilliQuantity(1_024_000, "BinarySI"), "1Ki"],
  [newScaledQuantity(7, 6), "7M"],
  [fromBytes(1536 * 1024), "1536Ki"],
  [fromBytes(2n ** 31n), "2Gi"],
])("%# is written as %s", (made, text) => {
  expect([made.toString(), made.canonical(), JSON.stringify(made)]).toEqual([
    text,
    text,
    `"${text}"`,
  ]);
});

test("negative fractions: 64-bit numbers round away from zero, decimals up", () => {
  expect(parseQuantity("-1n").value()).toBe(-1n);
  expect(parseQuantity("-0.1n").value()).toBe(1n);
  expect(parseQuantity("-1.5").roundUp(0).toString()).toBe("-2");
});

test("the smallest 64-bit integer can be negated", () => {
  expect(
    newQuantity(-(2n ** 63n), "DecimalSI")
      .neg()
      .value(),
  ).toBe(2n ** 63n);
});

test("rounding to a finer step changes nothing, not even the spelling", () => {
  const kept = parseQuantity("+5");
  expect(kept.roundUp(-3)).toBe(kept);
});

test("64-bit integers are available for values that were not read through a decimal", () => {
  expect(parseQuantity("1G").asInt64()).toBe(10n ** 9n);
  expect(parseQuantity("1.5Gi").asInt64()).toBeUndefined();
  expect(parseQuantity("10E").asInt64()).toBeUndefined();
  expect(parseQuantity("1m").asInt64()).toBeUndefined();
});

test("floats have the rounding of both factors, and infinity", () => {
  expect(parseQuantity("5u").approximateFloat64()).toBe(4.9999999999999996e-6);
  expect(parseQuantity("1e400").approximateFloat64()).toBe(Number.POSITIVE_INFINITY);
  expect(parseQuantity("64Mi").approximateFloat64()).toBe(67_108_864);
});

test.each([0.5, Number.NaN, Number.POSITIVE_INFINITY])("%s is not a whole number", (value) => {
  const refused = expect.objectContaining({ code: "API_QUANTITY_INVALID" });
  expect(() => newQuantity(value, "DecimalSI")).toThrow(refused);
  expect(() => parseQuantity("1").mul(value)).toThrow(refused);
  expect(() => parseQuantity("1").roundUp(value)).toThrow(refused);
});

test("refuses a scale beyond the limit before expanding it", () => {
  expect(() => parseQuantity("1").scaledValue(-1e9)).toThrow("at most 100000");
});
