import { expect, test } from "vitest";
import { formatMac, parseMac } from "./mac-address.ts";

test.each([
  ["02:00:00:AA:bb:cc", "02:00:00:aa:bb:cc"],
  ["02-00-00-aa-bb-cc", "02:00:00:aa:bb:cc"],
  ["0200.00aa.bbcc", "02:00:00:aa:bb:cc"],
  ["02:00:00:aa:bb:cc:dd:ee", "02:00:00:aa:bb:cc:dd:ee"],
  ["0200.00aa.bbcc.ddee", "02:00:00:aa:bb:cc:dd:ee"],
])("%s is %s", (text, written) => {
  expect(formatMac(parseMac(text) ?? new Uint8Array())).toBe(written);
});

test.each([
  ...["", "02:00:00:aa:bb", "02:00-00:aa:bb:cc", "02:00:00:aa:bb:cg", "020000aabbcc"],
  ...["02:00:00:aa:bb:cc:dd", "02:00:00:aa:bb:cc-dd-ee", "0200.00aa"],
])("%j is not an address", (text) => {
  expect(parseMac(text)).toBeUndefined();
});
