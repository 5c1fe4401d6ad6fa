import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { hypervFeatures } from "./hyperv-features.ts";

test("asks KVM for its Hyper-V features; anything but KVM has none", () => {
  const features = hypervFeatures();
  // Every KVM on x86 since Linux 3.14 has the clock; the rest depends on how the kernel was built.
  expect(features.includes("time")).toBe(existsSync("/dev/kvm") && process.arch === "x64");
  expect(features.includes("vpindex")).toBe(features.includes("base"));
  expect(hypervFeatures("/dev/null")).toEqual([]);
  expect(hypervFeatures("/dev/none")).toEqual([]);
});
