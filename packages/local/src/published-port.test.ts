import { expect, test } from "vitest";
import {
  hostPort,
  listenAddresses,
  type PublishedPort,
  requireDistinctPorts,
} from "./published-port.ts";

const tcp = (host: number, address?: string): PublishedPort => ({
  protocol: "tcp",
  host,
  guest: 80,
  ...(address === undefined ? {} : { address }),
});

test("publishes a port on loopback by default, and nowhere else", () => {
  expect(listenAddresses(tcp(80))).toEqual(["127.0.0.1", "::1"]);
  expect(listenAddresses(tcp(80, "192.0.2.1"))).toEqual(["192.0.2.1"]);
});

test.each([
  [tcp(80), tcp(80)],
  [tcp(80), tcp(80, "127.0.0.1")],
  [tcp(80), tcp(80, "0.0.0.0")],
  [tcp(80), tcp(80, "::")],
  [tcp(80, "::1"), tcp(80, "0:0:0:0:0:0:0:1")],
  [tcp(80, "192.0.2.1"), tcp(80, "0.0.0.0")],
])("finds the same host port twice in %j and %j", (one, other) => {
  expect(() => requireDistinctPorts([one, other])).toThrow(
    "port 80/tcp of this host is published twice",
  );
});

test("other ports, protocols, addresses and families do not collide", () => {
  const udp: PublishedPort = { protocol: "udp", host: 80, guest: 80 };
  requireDistinctPorts([tcp(80), tcp(81), udp, tcp(80, "192.0.2.1"), tcp(80, "192.0.2.2")]);
  requireDistinctPorts([tcp(80, "0.0.0.0"), tcp(80, "::")]);
});

test("writes IPv6 addresses in brackets", () => {
  expect(hostPort("::1", 80)).toBe("[::1]:80");
  expect(hostPort("127.0.0.1", 80)).toBe("127.0.0.1:80");
});
