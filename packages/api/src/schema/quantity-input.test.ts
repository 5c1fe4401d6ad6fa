import { expect, test } from "vitest";
import { isQuantityText } from "./quantity-input.ts";

test.each(["0", "1.5Gi", "-3m", "+.5", "1e3", "1E-2", "5.", "12Ki", "9".repeat(1000)])(
  "%s is written as a quantity",
  (text) => {
    expect(isQuantityText(text)).toBe(true);
  },
);

test.each(["", "Gi", "1 Gi", "1GB", "1K", "0x10", "1,5", "1ki", "1\n"])("%j is not", (text) => {
  expect(isQuantityText(text)).toBe(false);
});
