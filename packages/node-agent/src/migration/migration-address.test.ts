import type { NetworkInterfaceInfo } from "node:os";
import { expect, test } from "vitest";
import { migrationAddress } from "./migration-address.ts";

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
