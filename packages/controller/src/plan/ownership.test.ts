import { expect, test } from "vitest";
import { adoption, judgeClaim, release } from "./ownership.ts";

const owner = (uid: string, controller = true) => ({
  apiVersion: "v1",
  kind: "K",
  name: uid,
  uid,
  controller,
});
const us = { metadata: { name: "us", uid: "us" } };
const going = { metadata: { ...us.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
const object = (...ownerReferences: object[]) => ({ metadata: { name: "o", ownerReferences } });
const orphan = { metadata: { name: "o" } };

test.each([
  ["an own one that is selected", object(owner("us")), us, true, "own"],
  ["an own one that is no longer selected", object(owner("us")), us, false, "release"],
  ["another's", object(owner("them")), us, true, "foreign"],
  ["one that nobody manages", object(owner("them", false)), us, true, "adopt"],
  ["an orphan that is not selected", orphan, us, false, "foreign"],
  ["an orphan, by an owner that is going", orphan, going, true, "foreign"],
  ["an own one, by an owner that is going", object(owner("us")), going, false, "foreign"],
  [
    "an orphan that is going",
    { metadata: { name: "o", deletionTimestamp: "2026-01-01T00:00:00Z" } },
    us,
    true,
    "foreign",
  ],
])("%s", (_, target, claimant, isSelected, verdict) => {
  expect(judgeClaim(target, claimant, isSelected)).toBe(verdict);
});

test("owners that do not manage stay, whoever comes and goes", () => {
  const path = "/metadata/ownerReferences";
  const others = [owner("them", false)];
  expect(adoption(object(...others), owner("us"))).toContainEqual({
    op: "replace",
    path,
    value: [...others, owner("us")],
  });
  expect(release(object(...others, owner("us")), "us")).toEqual([
    { op: "test", path, value: [...others, owner("us")] },
    { op: "replace", path, value: others },
  ]);
  expect(release(object(owner("us")), "us")).toContainEqual({ op: "remove", path });
});
