import { formatMac } from "@virtkit/api/addresses";
import { expect, test } from "vitest";
import { parseMac } from "./mac-address.ts";

test.each(["02:AB:00:00:00:01", "02-ab-00-00-00-01", "02ab.0000.0001"])("reads %s", (text) => {
  expect(formatMac(parseMac(text, "mac"))).toBe("02:ab:00:00:00:01");
});

test.each(["", "02:ab-00:00:00:01", "02:ab:00:00:00", "02ab00000001", "zz:ab:00:00:00:01"])(
  "rejects %j and names the field",
  (text) => expect(() => parseMac(text, "spec.mac")).toThrow(/^spec\.mac is/),
);
