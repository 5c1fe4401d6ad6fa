import fc from "fast-check";
import { expect, test } from "vitest";
import { parseQuantity, type QuantityFault, quantityFrom, readQuantity } from "./parse-quantity.ts";
import { Quantity } from "./quantity.ts";
import { unmarshalQuantity } from "./unmarshal-quantity.ts";

test.each([
  ["64Mi", 64n * 2n ** 20n, "64Mi"],
  ["1.5Gi", 1536n * 2n ** 20n, "1536Mi"],
  ["0.1Gi", 107_374_183n, "107374182400m"],
  ["1000Ki", 1_024_000n, "1000Ki"],
  ["2048Ki", 2n ** 21n, "2Mi"],
  ["250m", 1n, "250m"],
  ["1500m", 2n, "1500m"],
  ["0.5", 1n, "500m"],
  ["12e6", 12_000_000n, "12e6"],
  ["1E", 10n ** 18n, "1E"],
  ["1.E", 10n ** 18n, "1.E"],
  ["16Ei", 2n ** 63n - 1n, "9223372036854775807"],
  ["1e-12", 1n, "1e-9"],
  ["0.1n", 1n, "1n"],
  ["9007199254740993", 9_007_199_254_740_993n, "9007199254740993"],
  ["99999999999999999999", 99_999_999_999_999_999_999n, "99999999999999999999"],
  ["-1Gi", -(2n ** 30n), "-1Gi"],
])("%s is %s units and written %s", (text, value, written) => {
  const parsed = parseQuantity(text);
  expect([parsed.value(), parsed.toString()]).toEqual([value, written]);
});

test.each(["+1", "007", "5.", "2E3", "1.001", "+1Gi"])(
  "%s looks canonical to Kubernetes and keeps its spelling",
  (text) => {
    expect(parseQuantity(text).toString()).toBe(text);
    expect(parseQuantity(text).canonical()).not.toBe(text);
  },
);

test.each(["-", "+", "Gi", ".", "e3", "-.m", "00"])("%s is zero", (text) => {
  expect(parseQuantity(text).isZero()).toBe(true);
});

test("values finer than a billionth round away from zero", () => {
  expect(parseQuantity("1.0000000001").toDecimalText()).toBe("1.000000001");
  expect(parseQuantity("-1.0000000001").toDecimalText()).toBe("-1.000000001");
  expect(parseQuantity("1e-99999").toDecimalText()).toBe("0.000000001");
});

test("exponents are cut to 32 bits, and must fit into 64", () => {
  expect(parseQuantity("1e4294967299").value()).toBe(1000n);
  expect(readQuantity("1e9223372036854775808")).toBe("API_QUANTITY_SUFFIX");
});

const faulty: [string, QuantityFault][] = [
  ["", "API_QUANTITY_SHAPE"],
  [" 1", "API_QUANTITY_SHAPE"],
  ["1\n", "API_QUANTITY_SHAPE"],
  ["1..0", "API_QUANTITY_SHAPE"],
  ["1Gib", "API_QUANTITY_SHAPE"],
  ["0x10", "API_QUANTITY_SHAPE"],
  ["NaN", "API_QUANTITY_SHAPE"],
  ["\u0661", "API_QUANTITY_SHAPE"],
  ["1ki", "API_QUANTITY_SUFFIX"],
  ["1e", "API_QUANTITY_SUFFIX"],
  ["1e+", "API_QUANTITY_SUFFIX"],
  ["1m1", "API_QUANTITY_SUFFIX"],
  ["e-10", "API_QUANTITY_DIGITS"],
  [".Pi", "API_QUANTITY_DIGITS"],
  ["1e100001", "API_QUANTITY_SIZE"],
  ["1e2147483647", "API_QUANTITY_SIZE"],
  ["1e-2147483648", "API_QUANTITY_SIZE"],
];

test("refuses thousands of digits without reading them", () => {
  expect(parseQuantity("9".repeat(4000)).sign()).toBe(1);
  expect(readQuantity("9".repeat(5000))).toBe("API_QUANTITY_SIZE");
});

test.each(faulty)("refuses %j: %s", (text, fault) => {
  expect(readQuantity(text)).toBe(fault);
  expect(() => parseQuantity(text)).toThrow(expect.objectContaining({ code: fault }));
});

test("error messages stay short whatever the text", () => {
  try {
    parseQuantity("z".repeat(100_000));
    expect.unreachable();
  } catch (error) {
    expect((error as Error).message.length).toBeLessThan(300);
  }
});

test("any text is a quantity or has a fault, in bounded time", () => {
  const nearly = fc.stringMatching(/^[+-]?[0-9.]{0,25}[eEinumkKMGTP]{0,2}[+-]?[0-9]{0,6}$/);
  fc.assert(
    fc.property(fc.oneof(nearly, fc.string(), fc.string({ unit: "binary" })), (text) => {
      const read = readQuantity(text);
      if (read instanceof Quantity) expect(read.cmp(read)).toBe(0);
      else expect(read).toMatch(/^API_QUANTITY_[A-Z]+$/);
    }),
    { numRuns: 2000 },
  );
});

test("the largest accepted exponent can be compared and written", () => {
  const [large, larger] = [parseQuantity("1e100000"), parseQuantity("1.5e100000")];
  expect(large.cmp(larger)).toBe(-1);
  expect(large.cmp(parseQuantity("-5"))).toBe(1);
  expect(large.toString()).toBe("10e99999");
});

test("accepts JSON numbers and strings", () => {
  expect(quantityFrom(1024).toString()).toBe("1024");
  expect(quantityFrom(0.1).toString()).toBe("100m");
  expect(quantityFrom(1e21).value()).toBe(10n ** 21n);
  expect(quantityFrom(5n).toString()).toBe("5");
  expect(quantityFrom("1Gi").toString()).toBe("1Gi");
  expect(() => quantityFrom(Number.NaN)).toThrow("is not a quantity");
});

test("JSON text: removes quotes and space, keeps escapes, null is a zero without a format", () => {
  expect(unmarshalQuantity('" 1Gi\u0085"').toString()).toBe("1Gi");
  expect(unmarshalQuantity("1e3").format).toBe("DecimalExponent");
  expect(unmarshalQuantity("null")).toMatchObject({ format: "", amount: { mantissa: 0 } });
  for (const json of ['"\\u0031"', '"', '""', "{}", "true", '"\ufeff1"']) {
    expect(() => unmarshalQuantity(json), json).toThrow("is not a quantity");
  }
});
