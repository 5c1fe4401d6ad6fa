import { describe, expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

describe("rng", () => {
  test("is fed by the host's random numbers, if asked for", () => {
    expect(domainWith().devices.rng).toBeUndefined();
    expect(domainWith({ devices: { rng: {} } }).devices.rng).toEqual({
      model: "virtio-non-transitional",
      backend: { model: "random", source: "/dev/urandom" },
    });
  });
});
