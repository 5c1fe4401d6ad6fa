import { expect, test } from "vitest";
import { isForeign } from "./is-foreign.ts";

test.each<[unknown, boolean]>([
  [{ apiVersion: "v1", kind: "Pod" }, true],
  [{ apiVersion: "apps/v1", kind: "Deployment" }, true],
  [{ apiVersion: "kubevirt.io/v1", kind: "VirtualMachine" }, false],
  [{ apiVersion: "kubevirt.io/v1", kind: "Virtualmachine" }, false],
  [{ apiVersion: "v1", kind: "VirtualMachine" }, false],
  [{ kind: "Pod" }, false],
  ["text", false],
  [null, false],
])("%j belongs to somebody else: %s", (value, foreign) => {
  expect(isForeign(value, "kubevirt.io")).toBe(foreign);
});
