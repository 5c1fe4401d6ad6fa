import { expect, test } from "vitest";
import type { DomainHostDevice } from "../model/host-device.ts";
import { domainWith } from "../testing/conversion.ts";
import { placeOnExpanderBuses } from "./expander-buses.ts";

function device(): DomainHostDevice {
  return { type: "pci", source: {} };
}

test("fails with more devices than bus numbers, and changes nothing", () => {
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

test("a device with its own IOMMU does not share its bus", () => {
  const domain = domainWith();
  const [lonely, normal] = [device(), device()];
  placeOnExpanderBuses(domain, [
    { device: normal, source: "b", cell: 0 },
    { device: lonely, source: "a", cell: 0, iommu: { model: "smmuv3", driver: { ats: "on" } } },
  ]);
  expect(domain.devices.iommus).toEqual([{ model: "smmuv3", driver: { ats: "on", pciBus: "1" } }]);
  expect([lonely.address?.bus, normal.address?.bus]).toEqual(["2", "4"]);
});
