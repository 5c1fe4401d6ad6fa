import { expect, test } from "vitest";
import type { KubeObject } from "../client/kube-object.ts";
import { defineResource } from "../client/resource.ts";
import { hasFinalizer, isDeleting, withFinalizer, withoutFinalizer } from "./finalizers.ts";
import { isControlledBy, ownerReferenceTo } from "./owner-references.ts";

const things = defineResource({
  group: "x.example",
  version: "v1",
  plural: "things",
  kind: "Thing",
});
const owner = { metadata: { name: "a", namespace: "default", uid: "1" } };

test("an owner is identified by its UID, not by its name", () => {
  const reference = ownerReferenceTo(things, owner);
  expect(reference).toEqual({
    apiVersion: "x.example/v1",
    kind: "Thing",
    name: "a",
    uid: "1",
    controller: true,
    blockOwnerDeletion: true,
  });
  const object = { metadata: { name: "b", ownerReferences: [reference] } };
  expect(isControlledBy(object, owner)).toBe(true);
  expect(isControlledBy(object, { metadata: { ...owner.metadata, uid: "2" } })).toBe(false);
  expect(isControlledBy(object, { metadata: { name: "a" } })).toBe(false);
});

test("an owner that is not the controller does not count as the controller", () => {
  const reference = ownerReferenceTo(things, owner, { isController: false });
  expect(reference).not.toHaveProperty("controller");
  expect(isControlledBy({ metadata: { ownerReferences: [reference] } }, owner)).toBe(false);
});

test("an owner without a UID cannot own", () => {
  expect(() => ownerReferenceTo(things, { metadata: { name: "a" } })).toThrow(
    /must have a name and a UID/,
  );
});

test("adding and removing finalizers changes nothing else", () => {
  const object: KubeObject = { metadata: { name: "a", labels: { x: "1" } } };
  const one = withFinalizer(object, "x.example/f");
  expect(one).toEqual({ metadata: { ...object.metadata, finalizers: ["x.example/f"] } });
  expect(withFinalizer(one, "x.example/f")).toBe(one);
  expect(withoutFinalizer(one, "x.example/other")).toBe(one);
  expect(withoutFinalizer(one, "x.example/f")).toEqual(object);
  const two = withFinalizer(one, "x.example/g");
  expect(withoutFinalizer(two, "x.example/f").metadata.finalizers).toEqual(["x.example/g"]);
  expect([hasFinalizer(one, "x.example/f"), isDeleting(one)]).toEqual([true, false]);
});
