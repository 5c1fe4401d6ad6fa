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
  ["an owned one that is selected", object(owner("us")), us, true, "own"],
  ["an owned one that is no longer selected", object(owner("us")), us, false, "release"],
  ["another's", object(owner("them")), us, true, "foreign"],
  ["one without an owner", object(owner("them", false)), us, true, "adopt"],
  ["an orphan that is not selected", orphan, us, false, "foreign"],
  ["an orphan, with an owner that is being deleted", orphan, going, true, "foreign"],
  [
    "an owned one, with an owner that is being deleted",
    object(owner("us")),
    going,
    false,
    "foreign",
  ],
  [
    "an orphan that is being deleted",
    { metadata: { name: "o", deletionTimestamp: "2026-01-01T00:00:00Z" } },
    us,
    true,
    "foreign",
  ],
])("%s", (_, target, claimant, isSelected, verdict) => {
  expect(judgeClaim(target, claimant, isSelected)).toBe(verdict);
});

test("owners that do not manage the object stay, whoever comes and goes", () => {
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
