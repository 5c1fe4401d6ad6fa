import { describe, expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

describe("panic devices", () => {
  test("have the model from the VMI, or none", () => {
    const panicDevices = [{ model: "hyperv" }, {}];
    expect(domainWith({ devices: { panicDevices } }).devices.panics).toEqual([
      { model: "hyperv" },
      {},
    ]);
  });
});
