import { formatIp } from "@virtkit/api/addresses";
import fc from "fast-check";
import { expect, test } from "vitest";
import { addressInNetwork, formatCidr, maskOf, parseCidr, parseIp } from "./ip-address.ts";

test.each([
  ["10.0.2.1", "10.0.2.1"],
  ["fd10:0:2::1", "fd10:0:2::1"],
  ["2001:0DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
  ["::", "::"],
  ["::1", "::1"],
  ["fe80::", "fe80::"],
  ["::ffff:10.0.0.1", "10.0.0.1"],
  ["64:ff9b::192.0.2.1", "64:ff9b::c000:201"],
])("parses %s as %s", (text, formatted) => {
  expect(formatIp(parseIp(text) ?? new Uint8Array())).toBe(formatted);
});

test.each(["", "10.0.0", "010.0.0.1", "10.0.0.256", "fe80::1%eth0", "::1::", "name"])(
  "rejects %j as an address",
  (text) => expect(parseIp(text)).toBeUndefined(),
);

test("an address survives a round trip", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 4, maxLength: 4 }),
    fc.uint8Array({ minLength: 16, maxLength: 16 }).filter((ip) => ip[10] !== 0xff),
  );
  fc.assert(
    fc.property(bytes, (ip) => {
      expect(parseIp(formatIp(ip))).toEqual(ip);
    }),
  );
});

test("a mask has as many leading ones as the prefix says", () => {
  expect([...maskOf(20, 4)]).toEqual([255, 255, 240, 0]);
  expect([...maskOf(0, 4)]).toEqual([0, 0, 0, 0]);
});

test("counts the addresses of a network from its first one", () => {
  expect(formatIp(addressInNetwork(parseCidr("10.0.3.77/22", "x"), 2))).toBe("10.0.0.2");
});

test.each(["10.0.0.0", "10.0.0.0/33", "fd00::/129", "10.0.0.0/", "x/8"])(
  "rejects %s and names the field",
  (text) => expect(() => parseCidr(text, "spec.x")).toThrow(/^spec\.x is .*10\.0\.2\.0\/24/),
);

test("a CIDR survives a round trip", () => {
  expect(formatCidr(parseCidr("fd10:0:2::2/120", "x"))).toBe("fd10:0:2::2/120");
});
