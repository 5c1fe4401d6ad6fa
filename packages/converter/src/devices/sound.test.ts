import { describe, expect, test } from "vitest";
import { domainWith, errorPath } from "../testing/conversion.ts";

describe("sound", () => {
  test.each([
    [undefined, "ich9"],
    ["ac97", "ac97"],
  ])("of the model %j is %s", (model, expected) => {
    const sound = model === undefined ? { name: "s" } : { name: "s", model };
    expect(domainWith({ devices: { sound } }).devices.sounds).toEqual([
      { model: expected, alias: { name: "ua-s" } },
    ]);
  });

  test("fails with an unknown model", () => {
    const sound = { name: "s", model: "es1370" };
    expect(errorPath({ devices: { sound } })).toBe("spec.domain.devices.sound.model");
  });
});
