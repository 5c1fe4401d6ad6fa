import { expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

test.each([
  ["Terminate", "destroy"],
  ["Reboot", "restart"],
  ["Whatever", undefined],
  [undefined, undefined],
])("the policy %j makes a reboot %j", (rebootPolicy, expected) => {
  const domain = rebootPolicy === undefined ? {} : { rebootPolicy };
  expect(domainWith({ domain }).onReboot).toBe(expected);
});
