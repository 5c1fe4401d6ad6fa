import { expect, test } from "vitest";
import { each, fine, invalid, isFieldOurs, join, quote, required } from "./cause.ts";

test("a cause names the field and what is wrong with it", () => {
  expect(invalid("spec.a", "is 1; use 2")).toEqual([
    { reason: "FieldValueInvalid", field: "spec.a", message: "spec.a is 1; use 2" },
  ]);
  expect(invalid("spec.odd", "is 1", "spec.real")).toEqual([
    { reason: "FieldValueInvalid", field: "spec.odd", message: "spec.real is 1" },
  ]);
});

test("a cause without a field in KubeVirt gets the field that its message starts with", () => {
  const [cause] = required(undefined, "spec.domain has no memory");
  expect(cause).toEqual({
    reason: "FieldValueRequired",
    message: "spec.domain has no memory",
    field: "spec.domain",
  });
  expect(cause && isFieldOurs(cause)).toBe(true);
  const [other] = required("spec.domain", "has no memory");
  expect(other && isFieldOurs(other)).toBe(false);
});

test("empty results are the same list", () => {
  expect(join(fine, fine)).toBe(fine);
  expect(each(undefined, () => fine)).toBe(fine);
  expect(each([1, 2], () => fine)).toBe(fine);
});

test("causes keep their order", () => {
  const found = join(
    invalid("a", ""),
    fine,
    each(["b", "c"], (field) => invalid(field, "")),
  );
  expect(found.map(({ field }) => field)).toEqual(["a", "b", "c"]);
});

test("quoted values are cut", () => {
  expect(quote("abc")).toBe('"abc"');
  expect(quote(undefined)).toBe("nothing");
  expect(quote("x".repeat(5000)).length).toBeLessThan(130);
  expect(quote({ a: "x".repeat(5000) }).length).toBeLessThan(130);
});
