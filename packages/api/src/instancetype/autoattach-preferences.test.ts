import { expect, test } from "vitest";
import { autoattachPreferences } from "./autoattach-preferences.ts";

const spec = { domain: { devices: { autoattachMemBalloon: true } } };

test("a preference fills in what the spec leaves open, and the spec stays as it is", () => {
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

test("without a preference for devices the spec is the same one", () => {
  expect(autoattachPreferences(spec, undefined)).toBe(spec);
  expect(autoattachPreferences(spec, { cpu: {} })).toBe(spec);
});
