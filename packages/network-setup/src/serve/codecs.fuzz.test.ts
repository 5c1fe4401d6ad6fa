import fc from "fast-check";
import { expect, test } from "vitest";
import { dhcp4Responder } from "../dhcp4/dhcp4-reply.ts";
import { dhcp6Responder } from "../dhcp6/dhcp6-reply.ts";
import { decodeAddress } from "../netlink/kernel-addresses.ts";
import { decodeLink } from "../netlink/kernel-links.ts";
import { decodeNeighbour, decodeRoute } from "../netlink/kernel-routes.ts";
import { decodeMessages } from "../netlink/netlink-message.ts";
import { isNetworkSetupError } from "../network-setup-error.ts";
import { dhcp4Packet, dhcp6Packet } from "../testing/dhcp-packets.ts";
import { isRouterSolicitation } from "./router-advertisement.ts";

const mac = "02:00:00:00:00:01";
const respond4 = dhcp4Responder({
  clientMac: mac,
  clientIp: "10.0.2.2/24",
  serverIp: "10.0.2.1",
  nameservers: ["10.96.0.10"],
  searchDomains: ["cluster.local"],
  mtu: 1450,
  hostname: "vm",
});
const respond6 = dhcp6Responder({ clientIp: "fd10:0:2::2", serverMac: mac, nameservers: [] });
const from = { address: "0.0.0.0", port: 68 };

/**
 * Well-formed messages with some bytes changed and the end cut or extended: most get far into a
 * codec.
 */
function damaged(seeds: readonly Buffer[]): fc.Arbitrary<Buffer> {
  return fc
    .tuple(
      fc.constantFrom(...seeds),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 }),
      fc.nat(400),
      fc.uint8Array({ maxLength: 40 }),
    )
    .map(([seed, changes, cut, tail]) => {
      const bytes = Buffer.concat([
        seed.subarray(0, seed.length - (cut % (seed.length + 1))),
        tail,
      ]);
      for (const [place, value] of changes) {
        if (bytes.length > 0) bytes[place % bytes.length] = value;
      }
      return bytes;
    });
}

/** Whether a codec ever fails with anything but its own error. */
function survives(
  seeds: readonly Buffer[],
  decode: (bytes: Buffer) => unknown,
  numRuns = 3_000,
): boolean {
  const result = fc.check(
    fc.property(damaged(seeds), (bytes) => {
      try {
        decode(bytes);
      } catch (error) {
        if (!isNetworkSetupError(error)) throw error;
      }
    }),
    { numRuns, seed: 42 },
  );
  return !result.failed;
}

const dhcp4Seeds = [1, 3, 4, 7, 8].map((type) => dhcp4Packet(mac, type));
const dhcp6Seeds = [1, 3, 5, 6, 8, 11].map((type) => dhcp6Packet(type, { rapid: true }));
const link = Buffer.from(
  "000001000200000043100100000000000900030065746830000000000a00010002000000000100000800040005dc0000",
  "hex",
);

test.each([
  ["DHCPv4", dhcp4Seeds, (bytes: Buffer) => respond4(bytes, from)],
  ["DHCPv6", dhcp6Seeds, (bytes: Buffer) => respond6(bytes)],
  [
    "router solicitations",
    [Buffer.from("8500000000000000010102000000000100", "hex")],
    isRouterSolicitation,
  ],
  [
    "netlink messages",
    [Buffer.concat([Buffer.from("1400000010000000", "hex"), Buffer.alloc(12)])],
    decodeMessages,
  ],
  ["links", [link], decodeLink],
  ["addresses", [Buffer.from("021800000200000008000200" + "0a000202", "hex")], decodeAddress],
  [
    "routes",
    [Buffer.from("021800000103000100000000" + "080004000200000008000500" + "0a000201", "hex")],
    decodeRoute,
  ],
  [
    "neighbours",
    [
      Buffer.from(
        "02000000020000008000000" + "0080001000a0002020a00020002000000000100" + "000",
        "hex",
      ),
    ],
    decodeNeighbour,
  ],
] as const)("no bytes break the codec of %s", (_, seeds, decode) => {
  expect(survives(seeds, decode)).toBe(true);
});

test("the same attack finds a codec that trusts a length", () => {
  const trusting = (bytes: Buffer): number => {
    let sum = 0;
    for (let at = 240; at < bytes.length && bytes[at] !== 255; at += 2 + bytes.readUInt8(at + 1)) {
      sum += bytes.readUInt8(at + 1 + bytes.readUInt8(at + 1));
    }
    return sum;
  };
  expect(survives(dhcp4Seeds, trusting)).toBe(false);
});

test("answers nobody but the guest, whatever is asked", () => {
  fc.assert(
    fc.property(damaged(dhcp4Seeds), (bytes) => {
      const reply = respond4(bytes, from);
      if (reply) expect(Buffer.from(bytes.subarray(28, 34)).toString("hex")).toBe("020000000001");
    }),
    { numRuns: 2_000 },
  );
});
