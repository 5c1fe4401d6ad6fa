import { expect, test } from "vitest";
import { functions } from "./quantity.ts";

test.each(["", "1e", "e-10"])("%j is not a quantity, which is an answer", (text) => {
  const error = expect.stringContaining(`"${text}" is not a quantity`);
  expect(functions["parse"]?.({ text }, {})).toEqual({ error });
});

test.each([
  ["parse", {}, "input.text"],
  ["parse", { text: 7 }, "input.text"],
  ["parse", null, "input.text"],
  ["roundUp", { a: "1", scale: "x" }, "input.scale"],
  ["mul", { a: "1", factor: 1.5 }, "input.factor"],
])("refuses %s of %j with the field's name", (fn, input, path) => {
  expect(() => functions[fn]?.(input, {})).toThrow(
    expect.objectContaining({ code: "BATCH_BAD_INPUT", path }),
  );
});

test("an exponent beyond the limit is a failure, not an answer", () => {
  expect(() => functions["parse"]?.({ text: "1e999999999" }, {})).toThrow(
    expect.objectContaining({ code: "API_QUANTITY_SIZE" }),
  );
});
