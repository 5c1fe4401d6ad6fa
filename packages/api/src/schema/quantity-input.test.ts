import fc from "fast-check";
import { expect, test } from "vitest";
import { parseQuantity } from "../quantity/index.ts";
import { isQuantityText } from "./quantity-input.ts";

test.each(["2Gi", "500m", "1.5", ".5Gi", "+1e3", "12E", "1e-3"])("%s is a quantity", (text) => {
  expect(isQuantityText(text)).toBe(true);
});

test.each(["Gi", "-", "1e1.5", "1e999999999", "1 Gi", "", "9".repeat(5000)])(
  "%# is refused by the pattern or by the parser",
  (text) => {
    expect(isQuantityText(text)).toBe(false);
  },
);

test("what is a quantity here can be parsed", () => {
  const nearly = fc.stringMatching(/^[+-]?[0-9.]{0,25}[eEinumkKMGTP]{0,2}[+-]?[0-9.]{0,6}$/);
  fc.assert(
    fc.property(nearly, (text) => {
      if (isQuantityText(text)) parseQuantity(text);
    }),
    { numRuns: 1000 },
  );
});
