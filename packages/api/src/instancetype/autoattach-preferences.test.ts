import { expect, test } from "vitest";
import { autoattachPreferences } from "./autoattach-preferences.ts";

const spec = { domain: { devices: { autoattachMemBalloon: true } } };

test("a preference fills in what the spec does not set, and the given spec is not changed", () => {
  const devices = {
    preferredAutoattachMemBalloon: false,
    preferredAutoattachPodInterface: false,
    preferredAutoattachInputDevice: true,
  };
  expect(autoattachPreferences(spec, { devices }).domain.devices).toEqual({
    autoattachMemBalloon: true,
    autoattachPodInterface: false,
    autoattachInputDevice: true,
  });
  expect(spec.domain.devices).toEqual({ autoattachMemBalloon: true });
});

test("returns the same spec without a preference for devices", () => {
  expect(autoattachPreferences(spec, undefined)).toBe(spec);
  expect(autoattachPreferences(spec, { cpu: {} })).toBe(spec);
});
