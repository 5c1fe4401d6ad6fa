import fc from "fast-check";
import { expect, test } from "vitest";
import { unixAddress } from "./connect-unix.ts";
import { decodeRights, encodeRights } from "./fd-passing.ts";
import { icmp6Filter, socketAddress } from "./open-socket.ts";

test("descriptors are packed as the kernel takes them, and come out again", () => {
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

test("any bytes as a control part are read without harm", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(decodeRights(Buffer.from(bytes)).length).toBeLessThanOrEqual(16);
    }),
  );
});

test("several control parts are all read", () => {
  expect(decodeRights(Buffer.concat([encodeRights([3]), encodeRights([4, 5])]))).toEqual([3, 4, 5]);
});

test("addresses are encoded in network order", () => {
  expect(socketAddress("udp4", "10.0.2.1", 67).toString("hex")).toBe(
    "020000430a0002010000000000000000",
  );
  expect(socketAddress("udp6", "fe80::1", 547).subarray(8, 24).toString("hex")).toBe(
    "fe800000000000000000000000000001",
  );
  expect(socketAddress("udp6", "::ffff:1.2.3.4", 0).subarray(8, 24).toString("hex")).toBe(
    "00000000000000000000ffff01020304",
  );
});

test.each([
  ["udp4", "::1"],
  ["udp4", "1.2.3"],
  ["udp6", "fe80::1%eth0"],
  ["udp6", "host"],
] as const)("%s does not take %s", (kind, address) => {
  expect(() => socketAddress(kind, address, 1)).toThrow(
    expect.objectContaining({ path: "address" }),
  );
});

test("the filter blocks all ICMPv6 types but those that are asked for", () => {
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
