import fc from "fast-check";
import { expect, test } from "vitest";
import { parseQuantity } from "../quantity/index.ts";
import { isQuantityText } from "./quantity-input.ts";

test.each(["0", "1.5Gi", "-3m", "+.5", "1e3", "1E-2", "5.", "12Ki", "9".repeat(1000)])(
  "%s is written as a quantity",
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

test("what is a quantity here can be parsed", () => {
  const nearly = fc.stringMatching(/^[+-]?[0-9.]{0,25}[eEinumkKMGTP]{0,2}[+-]?[0-9.]{0,6}$/);
  fc.assert(
    fc.property(nearly, (text) => {
      if (isQuantityText(text)) parseQuantity(text);
    }),
    { numRuns: 1000 },
  );
});
