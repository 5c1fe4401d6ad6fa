import { expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

test("the balloon reports at the interval in the context", () => {
  const context = { memBalloonStatsPeriod: 10, freePageReporting: true };
  expect(domainWith({ context }).devices.memballoon).toEqual({
    model: "virtio-non-transitional",
    freePageReporting: "on",
    stats: { period: 10 },
  });
  expect(domainWith().devices.memballoon).toMatchObject({ freePageReporting: "off" });
});

test("turns off an unwanted balloon explicitly, because libvirt adds one otherwise", () => {
  const devices = { autoattachMemBalloon: false };
  expect(domainWith({ devices }).devices.memballoon).toEqual({ model: "none" });
});
