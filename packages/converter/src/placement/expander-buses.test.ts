import { expect, test } from "vitest";
import type { DomainHostDevice } from "../model/host-device.ts";
import { domainWith } from "../testing/conversion.ts";
import { placeOnExpanderBuses } from "./expander-buses.ts";

function device(): DomainHostDevice {
  return { type: "pci", source: {} };
}

test("more devices than bus numbers are an error, and change nothing", () => {
  const domain = domainWith();
  const devices = Array.from({ length: 300 }, (_, at) => ({
    device: device(),
    source: `d${at}`,
    cell: at,
  }));
  const before = structuredClone(domain);
  expect(() => placeOnExpanderBuses(domain, devices)).toThrow(/bus numbers/);
  expect(domain).toEqual(before);
  expect(devices[0]?.device.address).toBeUndefined();
});

test("a device with an IOMMU of its own shares its bus with no other", () => {
  const domain = domainWith();
  const [lonely, normal] = [device(), device()];
  placeOnExpanderBuses(domain, [
    { device: normal, source: "b", cell: 0 },
    { device: lonely, source: "a", cell: 0, iommu: { model: "smmuv3", driver: { ats: "on" } } },
  ]);
  expect(domain.devices.iommus).toEqual([{ model: "smmuv3", driver: { ats: "on", pciBus: "1" } }]);
  expect([lonely.address?.bus, normal.address?.bus]).toEqual(["2", "4"]);
});
