import { describe, expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

describe("tpm", () => {
  test.each([
    [{}, { model: "tpm-tis", backend: { type: "emulator", version: "2.0" } }],
    [
      { persistent: true },
      { model: "tpm-crb", backend: { type: "emulator", version: "2.0", persistentState: "yes" } },
    ],
  ])("of %j is %j", (tpm, expected) => {
    expect(domainWith({ devices: { tpm } }).devices.tpms).toEqual([expected]);
  });

  test("can be turned off", () => {
    expect(domainWith({ devices: { tpm: { enabled: false } } }).devices.tpms).toEqual([]);
  });
});
