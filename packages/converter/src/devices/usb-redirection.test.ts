import { describe, expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

describe("USB redirection", () => {
  test("has four slots", () => {
    const { redirectedDevices } = domainWith({ devices: { clientPassthrough: {} } }).devices;
    expect(redirectedDevices.map(({ source }) => source.path)).toEqual(
      [0, 1, 2, 3].map((place) => `/var/run/kubevirt-private/u1/virt-usbredir-${place}`),
    );
  });
});
