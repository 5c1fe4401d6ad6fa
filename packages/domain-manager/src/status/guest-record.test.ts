import { expect, test } from "vitest";
import { type GuestFact, type GuestRecord, learn, statusOf, unknownGuest } from "./guest-record.ts";

const facts = { agent: "connected", disks: [], interfaces: [] } as const;
const domain = (
  state: "Running" | "Paused" | "Shutoff",
  id: number,
  reason = "Unknown",
): GuestFact => ({ kind: "domain", uuid: "u", id, state, reason, facts });
const told = (id: number, hostname: string): GuestFact => ({
  kind: "told",
  id,
  told: { hostname },
});
const after = (...known: GuestFact[]): GuestRecord => known.reduce(learn, unknownGuest("ns_vm"));
const status = (...known: GuestFact[]) => statusOf(after(...known));

test("nothing is known before a look", () => {
  expect(status()).toEqual({
    name: "ns_vm",
    state: "Absent",
    reason: "NonExistent",
    agent: "disconnected",
    interfaces: [],
    disks: [],
  });
});

test("takes the state from libvirt and the guest's inside from the guest", () => {
  expect(status(domain("Running", 1), told(1, "g"))).toMatchObject({
    uuid: "u",
    state: "Running",
    agent: "connected",
    hostname: "g",
  });
  expect(status(domain("Running", 1), told(1, "g"), domain("Paused", 1, "User"))).toMatchObject({
    state: "Paused",
    reason: "User",
    hostname: "g",
  });
});

test("what a guest reported ends with its run", () => {
  expect(status(domain("Running", 1), told(1, "g"), domain("Shutoff", -1))).not.toHaveProperty(
    "hostname",
  );
  expect(status(domain("Running", 1), told(1, "g"), { kind: "absent" })).toEqual(status());
  expect(status(domain("Running", 1), told(1, "g"), domain("Running", 2))).not.toHaveProperty(
    "hostname",
  );
  expect(status(domain("Running", 2), told(1, "late"))).not.toHaveProperty("hostname");
  expect(status(domain("Shutoff", -1), told(-1, "dead"))).not.toHaveProperty("hostname");
});

test("a guest that has ended has no agent, whatever the last description says", () => {
  expect(status(domain("Shutoff", -1, "Shutdown"))).toMatchObject({
    reason: "Shutdown",
    agent: "disconnected",
  });
});

test("credentials and a requested shutdown outlive a run; the first request counts", () => {
  const end = { kind: "shutdownRequested" } as const;
  const known: GuestFact[] = [
    { kind: "access", synced: false, message: "m" },
    { ...end, at: "1" },
    { ...end, at: "2" },
    { kind: "absent" },
  ];
  expect(status(...known)).toMatchObject({
    accessCredentials: { synced: false, message: "m" },
    shutdownRequestedAt: "1",
  });
});

test("the same facts give the same JSON", () => {
  const known = [domain("Running", 1), told(1, "g")];
  expect(JSON.stringify(status(...known))).toBe(JSON.stringify(status(...known, told(1, "g"))));
});

test("remembers until the next run that QEMU was asked to end", () => {
  const signalled = { kind: "signalled" } as const;
  expect(status(domain("Running", 1), signalled, domain("Shutoff", -1)).signalled).toBe(true);
  expect(
    status(domain("Running", 1), signalled, domain("Shutoff", -1), domain("Running", 2)),
  ).not.toHaveProperty("signalled");
});
