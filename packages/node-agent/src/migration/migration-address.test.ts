import type { NetworkInterfaceInfo } from "node:os";
import { expect, test } from "vitest";
import {
  migrationAddress,
  migrationNetworkOf,
  migrationNetworkProblem,
} from "./migration-address.ts";

function address(text: string, internal = false): NetworkInterfaceInfo {
  const family = text.includes(":") ? "IPv6" : "IPv4";
  const rest = { netmask: "", mac: "", internal, cidr: null };
  return { address: text, ...rest, ...(family === "IPv6" ? { family, scopeid: 0 } : { family }) };
}

const own = { lo: [address("127.0.0.1", true)], eth0: [address("fe80::1"), address("10.0.0.7")] };

test.each([
  ["the Pod's own", own, "10.0.0.7"],
  ["the migration network's", { ...own, migration0: [address("192.0.2.9")] }, "192.0.2.9"],
  ["the Pod's, if that network has none", { ...own, migration0: [] }, "10.0.0.7"],
  ["IPv4 before IPv6", { eth0: [address("2001:db8::1"), address("10.0.0.7")] }, "10.0.0.7"],
  ["IPv6 if there is nothing else", { eth0: [address("2001:db8::1")] }, "2001:db8::1"],
])("guests arrive at %s address", (_, interfaces, expected) => {
  expect(migrationAddress(interfaces)).toBe(expected);
});

test("an agent without a reachable address says so", () => {
  expect(() => migrationAddress({ lo: own.lo })).toThrow(
    expect.objectContaining({ code: "AGENT_ARGUMENT" }),
  );
});

test("an address of the dedicated network is told from one of the Pod's", () => {
  const both = { ...own, migration0: [address("192.0.2.9")] };
  expect(migrationNetworkOf("192.0.2.9", both)).toBe("Migration");
  expect(migrationNetworkOf("10.0.0.7", both)).toBe("Pod");
  expect(migrationNetworkOf("10.0.0.7", own)).toBe("Pod");
});

test("an agent says why guests do not use the network that the configuration names", () => {
  expect(migrationNetworkProblem(undefined, own)).toBeUndefined();
  const attached = { ...own, migration0: [address("192.0.2.9")] };
  expect(migrationNetworkProblem("moves", attached)).toBeUndefined();
  expect(migrationNetworkProblem("moves", own)).toMatch(
    /network moves .* migration0 .* is missing/,
  );
  const unusable = { ...own, migration0: [address("fe80::2")] };
  expect(migrationNetworkProblem("moves", unusable)).toMatch(/migration0 .* has no address/);
});
