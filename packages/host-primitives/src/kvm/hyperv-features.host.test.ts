import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { hypervFeatures } from "./hyperv-features.ts";

test("KVM is asked for its features of Hyper-V; what is not KVM has none", () => {
  const features = hypervFeatures();
  // Every KVM of x86 since Linux 3.14 has the clock; the rest only where the kernel was built with it.
  expect(features.includes("time")).toBe(existsSync("/dev/kvm") && process.arch === "x64");
  expect(features.includes("vpindex")).toBe(features.includes("base"));
  expect(hypervFeatures("/dev/null")).toEqual([]);
  expect(hypervFeatures("/dev/none")).toEqual([]);
});
