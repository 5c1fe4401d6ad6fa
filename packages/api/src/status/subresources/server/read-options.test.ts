import { expect, test } from "vitest";
import { readOptions } from "./read-options.ts";

const fields = { paused: "boolean", gracePeriod: "whole number", dryRun: "list" } as const;

test("an empty body sets nothing, and neither does null in a field", () => {
  expect(readOptions("", fields, undefined)).toEqual({ options: {} });
  expect(readOptions('{"paused":null}', fields, undefined)).toEqual({ options: { paused: null } });
});

test("reads other formats with the given parser", () => {
  const parse = (text: string): unknown => ({ paused: text === "paused: true" });
  expect(readOptions("paused: true", fields, parse)).toEqual({ options: { paused: true } });
  expect(readOptions("paused: true", fields, undefined)).toMatchObject({ code: 400 });
});

test.each(['{"paused":1}', '{"gracePeriod":1.5}', '{"dryRun":{}}', "[]", '"x"', "{bad"])(
  "%s is a bad request",
  (body) => {
    expect(readOptions(body, fields, undefined)).toMatchObject({ kind: "refused", code: 400 });
  },
);
