import { expect, test } from "vitest";
import { hypervOf } from "./hyperv.ts";

test("enlightenments are on by default, with their details", () => {
  expect(
    hypervOf({
      relaxed: {},
      vapic: { enabled: false },
      spinlocks: { spinlocks: 8191 },
      vendorid: { vendorid: "KVM Hv" },
      synictimer: { direct: {} },
      tlbflush: { enabled: true, direct: { enabled: false }, extended: {} },
    }),
  ).toEqual({
    relaxed: { state: "on" },
    vapic: { state: "off" },
    spinlocks: { state: "on", retries: 8191 },
    vendorId: { state: "on", value: "KVM Hv" },
    stimer: { state: "on", direct: { state: "on" } },
    tlbflush: { state: "on", direct: { state: "off" }, extended: { state: "on" } },
  });
});

test("leaves out what is not mentioned", () => {
  expect(hypervOf({})).toEqual({});
});
