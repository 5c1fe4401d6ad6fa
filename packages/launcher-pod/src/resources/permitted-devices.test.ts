import type { Devices, PermittedHostDevices } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { render } from "../testing/render.ts";

const permitted: PermittedHostDevices = {
  pciHostDevices: [{ pciVendorSelector: "1:2", resourceName: "x/pci" }],
  mediatedDevices: [{ mdevNameSelector: "m", resourceName: "x/mdev" }],
  usb: [{ resourceName: "x/usb" }],
};

const attempt = (devices: Partial<Devices>, list?: PermittedHostDevices) => () =>
  render({ devices }, { configuration: list ? { permittedHostDevices: list } : {} });

test("accepts devices of each kind that the configuration lists", () => {
  const gpus = [{ name: "a", deviceName: "x/mdev" }];
  const hostDevices = ["x/pci", "x/usb"].map((deviceName) => ({ name: deviceName, deviceName }));
  expect(attempt({ gpus, hostDevices }, permitted)).not.toThrow();
});

test.each([
  ["gpus", { gpus: [{ name: "a", deviceName: "x/other" }] }],
  ["hostDevices", { hostDevices: [{ name: "a", deviceName: "x/other" }] }],
])("refuses %s that it does not list, with their path", (field, devices) => {
  expect(attempt(devices, permitted)).toThrow(
    expect.objectContaining({
      code: "LAUNCHER_POD_NOT_PERMITTED",
      path: `spec.domain.devices.${field}[0].deviceName`,
    }),
  );
  expect(attempt(devices)).not.toThrow();
});

test("ignores claimed devices", () => {
  expect(
    attempt({ gpus: [{ name: "a", claimName: "c", requestName: "r" }] }, permitted),
  ).not.toThrow();
});
