import { expect, test } from "vitest";
import { dhcp4Packet } from "../testing/dhcp-packets.ts";
import type { Dhcp4Config } from "./dhcp4-options.ts";
import { decodeDhcp4, messageTypes } from "./dhcp4-packet.ts";
import { dhcp4Responder } from "./dhcp4-reply.ts";

const mac = "02:00:00:00:00:01";
const config: Dhcp4Config = {
  clientMac: mac,
  clientIp: "10.0.2.2/24",
  serverIp: "10.0.2.1",
  routerIp: "10.0.2.1",
  nameservers: ["10.96.0.10"],
  searchDomains: ["ns.svc.cluster.local", "cluster.local"],
  mtu: 1450,
  hostname: "vm",
};
const nowhere = { address: "0.0.0.0", port: 68 };

function ask(type: number, fields: Partial<Dhcp4Config> = {}, from = mac) {
  const reply = dhcp4Responder({ ...config, ...fields })(dhcp4Packet(from, type), nowhere);
  return reply && { to: reply.to, packet: decodeDhcp4(reply.payload), bytes: reply.payload };
}

function option(code: number, fields: Partial<Dhcp4Config> = {}): string {
  const { packet } = ask(messageTypes.discover, fields) ?? {};
  return Buffer.from(packet?.options.get(code) ?? []).toString("hex");
}

test("answers DISCOVER with an offer and REQUEST with an acknowledgement of the guest's address", () => {
  for (const [question, answer] of [
    [messageTypes.discover, messageTypes.offer],
    [messageTypes.request, messageTypes.ack],
  ] as const) {
    const reply = ask(question);
    expect(reply?.to).toEqual({ address: "255.255.255.255", port: 68 });
    expect(
      Buffer.from(reply?.bytes ?? [])
        .subarray(16, 20)
        .join("."),
    ).toBe("10.0.2.2");
    expect(reply?.packet?.options.get(53)).toEqual(Buffer.from([answer]));
  }
});

test("answers INFORM with the options but no address or lease", () => {
  const reply = ask(messageTypes.inform);
  expect(Buffer.from(reply?.bytes ?? []).readUInt32BE(16)).toBe(0);
  expect(reply?.packet?.options.has(51)).toBe(false);
  expect(reply?.packet?.options.has(6)).toBe(true);
});

test.each([messageTypes.decline, messageTypes.release, messageTypes.offer, 99])(
  "does not answer type %d",
  (type) => expect(ask(type)).toBeUndefined(),
);

test("answers only the configured MAC, or any client if none is set", () => {
  expect(ask(messageTypes.discover, {}, "02:00:00:00:00:02")).toBeUndefined();
  const { clientMac: _, ...anybody } = config;
  const respond = dhcp4Responder(anybody);
  expect(respond(dhcp4Packet("02:00:00:00:00:02", 1), nowhere)).toBeDefined();
});

test("informs the guest about its network", () => {
  expect([1, 3, 6, 26, 51].map((code) => option(code))).toEqual([
    "ffffff00",
    "0a000201",
    "0a60000a",
    "05aa",
    (999 * 24 * 60 * 60).toString(16).padStart(8, "0"),
  ]);
  expect(Buffer.from(option(12), "hex").toString()).toBe("vm");
  expect(Buffer.from(option(15), "hex").toString()).toBe("ns.svc.cluster.local");
  expect(option(119)).toMatch(/^026e7303737663/);
});

test("sends the default route last", () => {
  const routes = [
    { gw: "10.0.0.1" },
    { dst: "10.244.0.0/16", gw: "10.0.0.1" },
    { dst: "10.1.2.0/23" },
  ];
  expect(option(121, { routes })).toBe("100af40a000001" + "170a010200000000" + "000a000001");
});

test("sends the VMI's own options, private ones only in their range", () => {
  const dhcpOptions = {
    bootFileName: "boot.efi",
    tftpServerName: "tftp",
    ntpServers: ["10.0.0.9"],
    privateOptions: [
      { option: 240, value: "x" },
      { option: 200, value: "y" },
    ],
  };
  expect([67, 66, 42, 240, 200].map((code) => option(code, { dhcpOptions }))).toEqual([
    Buffer.from("boot.efi").toString("hex"),
    Buffer.from("tftp").toString("hex"),
    "0a000009",
    "78",
    "",
  ]);
});

test("splits a value over 255 bytes, and the packet stays readable", () => {
  const dhcpOptions = { privateOptions: [{ option: 240, value: "v".repeat(400) }] };
  const bytes = Buffer.from(ask(messageTypes.discover, { dhcpOptions })?.bytes ?? []);
  const at = bytes.indexOf(Buffer.from([240, 255, 0x76]));
  expect(at).toBeGreaterThan(240);
  expect([...bytes.subarray(at + 257, at + 259)]).toEqual([240, 145]);
});

test.each([
  [{ searchDomains: ["Not Valid"] }, /search domain/],
  [{ dhcpOptions: { ntpServers: ["ntp.example"] } }, /ntpServers/],
  [{ clientMac: "nope" }, /clientMAC/],
  [{ clientIp: "10.0.0.1" }, /clientIP/],
  [{ routes: [{ dst: "fd00::/64" }] }, /only IPv4 routes/],
])("rejects %j when the server is created", (fields, message) => {
  expect(() => dhcp4Responder({ ...config, ...fields })).toThrow(message);
});
