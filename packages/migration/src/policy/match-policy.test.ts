import type { MigrationPolicy } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { matchPolicy } from "./match-policy.ts";

type Labels = Record<string, string>;

function policy(name: string, vmi?: Labels, namespace?: Labels): MigrationPolicy {
  const selectors = {
    ...(vmi ? { virtualMachineInstanceSelector: vmi } : {}),
    ...(namespace ? { namespaceSelector: namespace } : {}),
  };
  return { metadata: { name }, spec: { selectors } };
}

const match = (policies: MigrationPolicy[], vmi?: Labels, namespace?: Labels): string | undefined =>
  matchPolicy(policies, vmi, namespace)?.metadata?.name;

test("all selectors must match, and the policy that names most labels wins", () => {
  const policies = [policy("one", { a: "1" }), policy("two", { a: "1" }, { n: "1" })];
  expect(match(policies, { a: "1" }, { n: "1" })).toBe("two");
  expect(match(policies, { a: "1" }, { n: "2" })).toBe("one");
  expect(match(policies, { a: "2" }, { n: "1" })).toBeUndefined();
});

test("ties go to the VMI's labels before the namespace's, and then to names", () => {
  const policies = [policy("a-namespace", undefined, { n: "1" }), policy("z-vmi", { a: "1" })];
  expect(match(policies, { a: "1" }, { n: "1" })).toBe("z-vmi");
  expect(match([policy("z", { a: "1" }), policy("b", { a: "1" })], { a: "1" })).toBe("b");
});

test("a policy without selectors never matches, and one with empty selectors always does", () => {
  const bare = { metadata: { name: "p" }, spec: {} } as MigrationPolicy;
  expect(match([bare], { a: "1" })).toBeUndefined();
  expect(match([policy("p", {}, {})], { a: "1" })).toBe("p");
});

test("a VMI without labels matches whatever the selectors say", () => {
  const policies = [policy("p", { a: "1" }, { n: "1" })];
  expect(match(policies, undefined, { n: "other" })).toBe("p");
  expect(match(policies, {}, { n: "1" })).toBeUndefined();
});

test("inherited object properties are not labels", () => {
  expect(match([policy("p", { constructor: "x" })], { a: "1" })).toBeUndefined();
});
