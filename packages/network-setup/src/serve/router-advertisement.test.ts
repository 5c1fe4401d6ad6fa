import { expect, test } from "vitest";
import { encodeRouterAdvertisement, isRouterSolicitation } from "./router-advertisement.ts";

const config = {
  network: "fd10:0:2::1/120",
  mac: "02:00:00:00:00:00",
  mtu: 1450,
  nameservers: ["fd00:96::10"],
};

test("an advertisement names the router, the MTU, the prefix on the link and the name servers", () => {
  expect(encodeRouterAdvertisement(config).toString("hex").match(/.{16}/g)).toEqual([
    "8600000040c02328", // type, hop limit 64, managed and other, 9000 s
    "0000000000000000",
    "0101020000000000", // the router's MAC
    "05010000000005aa", // MTU 1450
    "0304788000002328", // prefix /120, on the link, not for addresses
    "0000232800000000",
    "fd10000000020000",
    "0000000000000000",
    "1903000000002328", // name servers
    "fd00009600000000",
    "0000000000000010",
  ]);
});

test("leaves out an MTU that is too small for IPv6", () => {
  const bytes = encodeRouterAdvertisement({ ...config, mtu: 1_000, nameservers: [] });
  expect(bytes.length).toBe(56);
});

test("rejects a name server of the other family and names the field", () => {
  expect(() => encodeRouterAdvertisement({ ...config, nameservers: ["10.0.0.1"] })).toThrow(
    expect.objectContaining({ path: "nameservers" }),
  );
});

test.each([
  ["8500000000000000", true],
  ["85000000000000000101020000000001", true],
  ["8600000000000000", false],
  ["8501000000000000", false],
  ["85000000", false],
  ["85000000000000000100020000000001", false],
  ["85000000000000000102020000000001", false],
])("%s is a solicitation: %s", (hex, expected) => {
  expect(isRouterSolicitation(Buffer.from(hex, "hex"))).toBe(expected);
});
