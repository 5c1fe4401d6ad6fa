import { expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

test("the balloon reports what the context says", () => {
  const context = { memBalloonStatsPeriod: 10, freePageReporting: true };
  expect(domainWith({ context }).devices.memballoon).toEqual({
    model: "virtio-non-transitional",
    freePageReporting: "on",
    stats: { period: 10 },
  });
  expect(domainWith().devices.memballoon).toMatchObject({ freePageReporting: "off" });
});

test("a balloon that is not wanted is said to be none, or libvirt adds one", () => {
  const devices = { autoattachMemBalloon: false };
  expect(domainWith({ devices }).devices.memballoon).toEqual({ model: "none" });
});
