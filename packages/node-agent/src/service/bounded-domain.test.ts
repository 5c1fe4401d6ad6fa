import type { DomainStatus } from "@virtkit/domain-manager";
import { expect, test } from "vitest";
import { boundedDomain } from "./bounded-domain.ts";

/** A status in which every field is used. */
const whole: Required<DomainStatus> = {
  ...{ name: "default_vm", uuid: "u", state: "Running", reason: "User", agent: "connected" },
  interfaces: [
    { name: "default", mac: "02:00:00:00:00:01", interfaceName: "eth0", ips: ["10.0.0.2"] },
    { mac: "02:00:00:00:00:02", ips: [], queueCount: 2, linkState: "up" },
  ],
  disks: [{ volume: "root", target: "vda" }],
  hardware: {
    ...{ machine: "pc-q35-7.2", memory: { value: 128, unit: "MiB" } },
    ...{ emulated: true, acpi: true },
  },
  os: { id: "debian", name: "Debian", kernelRelease: "6.1" },
  ...{ hostname: "vm", timezone: "UTC", fsFreeze: "thawed", agentVersion: "7.2" },
  agentCommands: ["guest-ping"],
  accessCredentials: { synced: true, message: "done" },
  pending: [{ effect: "retry", summary: 'detach the disk "data"', reason: "in use" }],
  shutdownRequestedAt: "2026-01-01T00:00:00Z",
  probes: { readiness: { state: "passing" }, liveness: { state: "failing", message: "no" } },
  signalled: true,
  end: { kind: "Killed", message: "it was killed on request", at: "2026-01-01T00:00:00Z" },
};

test("what a well-behaved launcher reports stays as it is", () => {
  expect(boundedDomain(whole)).toEqual(whole);
  const { name, state, reason, agent } = whole;
  const least: DomainStatus = { name, state, reason, agent, interfaces: [], disks: [] };
  expect(boundedDomain(least)).toStrictEqual(least);
});

test("whatever a hostile launcher adds, or makes longer, the agent keeps little of it", () => {
  const long = "x".repeat(10_000);
  // The channel accepts no other words.
  const words = ["state", "kind", "effect"];
  const swell = (value: unknown): unknown => {
    if (typeof value === "string") return value + long;
    if (Array.isArray(value)) return Array.from({ length: 600 }, () => value.map(swell)).flat();
    if (typeof value !== "object" || value === null) return value;
    const own = Object.entries(value).map(([key, each]) =>
      words.includes(key) ? [key, each] : [key, swell(each)],
    );
    return { ...Object.fromEntries(own), unknown: long };
  };
  const { name, state, agent, pending: _, ...others } = whole;
  const swollen = { ...(swell(others) as object), name, state, agent } as DomainStatus;
  expect(JSON.stringify(boundedDomain(swollen)).length).toBeLessThan(600_000);
  expect(Object.keys(boundedDomain(swollen)).sort()).toEqual(
    Object.keys({ ...others, name, state, agent }).sort(),
  );
});

test.each([
  ["no list", "retry", []],
  ["an object", { some: true }, []],
  ["of anything", [null, 1, "x", {}, { effect: "explode" }], []],
  ["without texts", [{ effect: "retry", summary: 1 }], [{ effect: "retry", summary: "" }]],
])("pending changes that are %s do no harm", (_, pending, kept) => {
  const status = { ...whole, pending } as unknown as DomainStatus;
  expect(boundedDomain(status).pending).toEqual(kept);
});
