import fc from "fast-check";
import { expect, test } from "vitest";
import { readQuantity } from "../quantity/index.ts";
import { isQuantityText, quantityPattern } from "./quantity-input.ts";

test.each(["0", "1.5Gi", "-3m", "+.5", "1e3", "1E-2", "5.", "12Ki", "9".repeat(1000)])(
  "%s is a valid quantity",
  (text) => {
    expect(isQuantityText(text)).toBe(true);
  },
);

test.each(["", "Gi", "1 Gi", "1GB", "1K", "0x10", "1,5", "1ki", "1\n", "1e1.5", "1e999999999"])(
  "%j is not",
  (text) => {
    expect(isQuantityText(text)).toBe(false);
  },
);

test("a quantity is what matches the pattern and can be parsed", () => {
  const nearly = fc.stringMatching(/^[+-]?[0-9.]{0,25}[eEinumkKMGTP]{0,2}[+-]?[0-9.]{0,25}$/);
  const pattern = new RegExp(quantityPattern);
  fc.assert(
    fc.property(nearly, (text) => {
      const parsed = typeof readQuantity(text) !== "string";
      expect(isQuantityText(text)).toBe(parsed && pattern.test(text));
    }),
    { numRuns: 2000 },
  );
});

test("text that is too long for the parser is not one", () => {
  expect(isQuantityText("9".repeat(4096))).toBe(true);
  expect(isQuantityText("9".repeat(4097))).toBe(false);
});
