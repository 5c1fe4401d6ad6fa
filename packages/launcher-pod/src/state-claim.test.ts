import { names } from "@virtkit/api/names";
import type { VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { lookupIn, type PersistentVolumeClaim } from "./cluster-lookup.ts";
import { stateClaimOf, targetStateClaimOf } from "./state-claim.ts";
import { claim, testVmi } from "./testing/render.ts";

const vmi = testVmi({ devices: { tpm: { persistent: true } } });
const labelled = claim("a", {}, { labels: { "persistent-state-for": "guest" } });
const named = claim("persistent-state-for-guest");
const missing = expect.objectContaining({ code: "LAUNCHER_POD_NOT_FOUND" });

const find = (...persistentVolumeClaims: PersistentVolumeClaim[]): string =>
  stateClaimOf(vmi, lookupIn({ persistentVolumeClaims }));

test("finds the claim by its label, otherwise by its old name", () => {
  expect(find(named, labelled)).toBe("a");
  expect(find(named)).toBe("persistent-state-for-guest");
});

test("of several claims with the label, it is the oldest one, in whatever order they are listed", () => {
  const created = (name: string, creationTimestamp: string): PersistentVolumeClaim =>
    claim(name, {}, { ...labelled.metadata, name, creationTimestamp });
  const oldest = created("c", "2026-01-01T00:00:00Z");
  const sameSecond = created("d", "2026-01-01T00:00:00Z");
  const later = created("b", "2026-01-01T00:00:01Z");
  expect(find(later, sameSecond, oldest)).toBe("c");
  expect(find(oldest, later, sameSecond)).toBe("c");
});

test("ignores claims that are being deleted or belong elsewhere", () => {
  const dying = claim("a", {}, { ...labelled.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" });
  const foreign = claim("a", {}, { ...labelled.metadata, namespace: "other" });
  expect(() => find(dying, foreign)).toThrow(missing);
});

test("a guest without persistent state needs none", () => {
  expect(stateClaimOf(testVmi(), lookupIn({}))).toBe("");
});

test("a target has the claim that its migration names, otherwise the one labelled for it", () => {
  const own = claim("t", {}, { labels: { "kubevirt.io/migrationName": "m" } });
  const lookup = lookupIn({ persistentVolumeClaims: [labelled, own] });
  const find = (status: VirtualMachineInstanceMigration["status"]): string => {
    const metadata = { name: "m", namespace: "ns" };
    const migration = { metadata, spec: { vmiName: "guest" }, ...(status ? { status } : {}) };
    return targetStateClaimOf(vmi, migration, lookup, names());
  };
  expect(find(undefined)).toBe("t");
  expect(find({ migrationState: { targetPersistentStatePVCName: "a" } })).toBe("a");
  expect(() => find({ migrationState: { targetPersistentStatePVCName: "no" } })).toThrow(missing);
});

test("a migration without a name has no claim", () => {
  const migration = { metadata: { namespace: "ns" }, spec: { vmiName: "guest" } };
  const lookup = lookupIn({ persistentVolumeClaims: [labelled] });
  expect(() => targetStateClaimOf(vmi, migration, lookup, names())).toThrow(missing);
});
