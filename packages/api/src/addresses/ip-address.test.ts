import { expect, test } from "vitest";
import { formatIp, isIpv4, parseCidr, parseIp } from "./ip-address.ts";

test.each([
  ["10.0.2.1", "10.0.2.1"],
  ["010.000.2.01", "10.0.2.1"],
  ["::", "::"],
  ["::1", "::1"],
  ["fd10:0:2::2", "fd10:0:2::2"],
  ["FD10:0000:0002:0:0:0:0:0002", "fd10:0:2::2"],
  ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
  ["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"],
  ["1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"],
  ["::ffff:1.2.3.4", "1.2.3.4"],
  ["64:ff9b::1.2.3.4", "64:ff9b::102:304"],
])("%s is the address %s", (text, canonical) => {
  expect(formatIp(parseIp(text) ?? [])).toBe(canonical);
});

test.each([
  "",
  "1.2.3",
  "1.2.3.4.5",
  "1.2.3.256",
  "1.2.3.-4",
  "a.b.c.d",
  "0x1.2.3.4",
  ":",
  ":::",
  "1::2::3",
  "1:2:3:4:5:6:7",
  "1:2:3:4:5:6:7:8:9",
  "1:2:3:4:5:6:7::8:9",
  "1:2:3:4::5:6:7:8",
  "12345::",
  "fe80::1%eth0",
  "1.2.3.4::1",
  "::1.2.3.256",
  `${"0".repeat(200)}1.2.3.4`,
])("%j is not an address", (text) => {
  expect(parseIp(text)).toBeUndefined();
});

test("an IPv4-mapped IPv6 address counts as IPv4", () => {
  expect(["1.2.3.4", "::ffff:1.2.3.4", "::1"].map((text) => isIpv4(parseIp(text) ?? []))).toEqual([
    true,
    true,
    false,
  ]);
});

test("a network has an address and a prefix length that fits it", () => {
  expect(parseCidr("010.0.2.0/24")).toEqual({ ip: [10, 0, 2, 0], bits: 24 });
  for (const text of ["10.0.2.0", "10.0.2.0/", "10.0.2.0/33", "10.0.2.0/-1", "x/8", "::/129"]) {
    expect(parseCidr(text)).toBeUndefined();
  }
});
