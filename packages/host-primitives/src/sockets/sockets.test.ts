import fc from "fast-check";
import { expect, test } from "vitest";
import { unixAddress } from "./connect-unix.ts";
import { decodeRights, encodeRights } from "./fd-passing.ts";
import { icmp6Filter, openSocket } from "./open-socket.ts";
import { decodeAddress, encodeAddress } from "./socket-address.ts";

test("packs descriptors for the kernel, and unpacks them again", () => {
  expect(encodeRights([]).length).toBe(0);
  expect(encodeRights([7]).toString("hex")).toBe(
    "140000000000000001000000010000000700000000000000",
  );
  fc.assert(
    fc.property(fc.array(fc.nat(65_535), { maxLength: 50 }), (fds) => {
      expect(decodeRights(encodeRights(fds))).toEqual(fds);
    }),
  );
});

test("reads any bytes as control data without harm", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(decodeRights(Buffer.from(bytes)).length).toBeLessThanOrEqual(16);
    }),
  );
});

test("reads several control headers", () => {
  expect(decodeRights(Buffer.concat([encodeRights([3]), encodeRights([4, 5])]))).toEqual([3, 4, 5]);
});

test("encodes addresses in network order", () => {
  expect(encodeAddress({ address: "10.0.2.1", port: 67 }).toString("hex")).toBe(
    "020000430a0002010000000000000000",
  );
  expect(encodeAddress({ address: "fe80::1", scope: 3 }).subarray(8).toString("hex")).toBe(
    "fe80000000000000000000000000000103000000",
  );
  const mapped = encodeAddress({ address: "::ffff:1.2.3.4" });
  expect(mapped.toString("hex", 8, 24)).toBe("00000000000000000000ffff01020304");
});

test.each(["::", "::1", "fe80::1", "2001:db8::1:0:0:1", "1:0:2:0:3:0:4:0", "1::", "10.0.2.1"])(
  "%s survives a round trip",
  (address) => {
    expect(decodeAddress(encodeAddress({ address, port: 7 }))).toEqual({ address, port: 7 });
  },
);

test("ignores an address of another family, or a truncated one", () => {
  expect(decodeAddress(Buffer.from("10000000", "hex"))).toBeUndefined();
  expect(decodeAddress(encodeAddress({ address: "::1" }).subarray(0, 20))).toBeUndefined();
  expect(decodeAddress(Buffer.alloc(0))).toBeUndefined();
});

test.each(["1.2.3", "fe80::1%eth0", "host", ""])("rejects %j as a numeric address", (address) => {
  expect(() => encodeAddress({ address })).toThrow(expect.objectContaining({ path: "address" }));
});

test.each([
  ["udp4", "::1"],
  ["udp6", "10.0.0.1"],
] as const)("rejects a %s socket on %s", (kind, address) => {
  expect(() => openSocket({ kind, address })).toThrow(expect.objectContaining({ path: "address" }));
});

test("the filter blocks all ICMPv6 types except the requested ones", () => {
  const filter = icmp6Filter([133, 255]);
  expect(filter[4]).toBe(0xffffffdf);
  expect(filter[7]).toBe(0x7fffffff);
  expect(filter[0]).toBe(0xffffffff);
});

test("a unix address that would be cut short is refused", () => {
  expect(unixAddress("/a").toString("hex")).toBe("01002f6100");
  expect(() => unixAddress("/".repeat(108))).toThrow(
    expect.objectContaining({ code: "HOST_ARGUMENT_INVALID" }),
  );
  expect(() => unixAddress("/a\0b")).toThrow(/NUL/);
});
