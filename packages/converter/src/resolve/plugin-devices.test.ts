import { describe, expect, test } from "vitest";
import { pluginGpus, pluginHostDevices } from "./plugin-devices.ts";

test("a device without a name has the alias of an empty one", () => {
  const named = [{ deviceName: "v.com/x" }] as never;
  const env = { PCI_RESOURCE_V_COM_X: "0000:81:00.0" };
  expect(pluginHostDevices(named, env)[0]?.Alias?.Name).toBe("hostdevice-");
  expect(pluginGpus(named, env)[0]?.Alias?.Name).toBe("gpu-");
});

describe("devices of plugins", () => {
  test("are PCI, then mediated, then USB, each address once", () => {
    const env = {
      PCI_RESOURCE_V_COM_NIC: "0000:81:00.0,0000:82:00.0,",
      MDEV_PCI_RESOURCE_V_COM_GPU: "uuid-1",
      USB_RESOURCE_V_COM_KEY: "1:5",
    };
    const devices = pluginHostDevices(
      [
        { name: "k", deviceName: "v.com/key" },
        { name: "g", deviceName: "v.com/gpu" },
        { name: "a", deviceName: "v.com/nic" },
        { name: "b", deviceName: "v.com/nic" },
      ],
      env,
    );
    expect(devices.map(({ Type, Alias }) => `${Type} ${Alias?.Name}`)).toEqual([
      "pci hostdevice-a",
      "pci hostdevice-b",
      "mdev hostdevice-g",
      "usb usb-host-k",
    ]);
    expect(devices.map(({ Source }) => Source.Address?.Bus ?? Source.Address?.UUID)).toEqual([
      "0x81",
      "0x82",
      "uuid-1",
      "1",
    ]);
  });

  test.each([
    ["none was assigned", {}],
    ["a PCI address is invalid", { PCI_RESOURCE_X: "81:00" }],
    ["a USB address is invalid", { USB_RESOURCE_X: "1" }],
    ["two were assigned", { PCI_RESOURCE_X: "0000:81:00.0", USB_RESOURCE_X: "1:2" }],
  ])("fail if %s", (_what, env) => {
    const list = [{ name: "d", deviceName: "x" }];
    expect(() => pluginHostDevices(list, env)).toThrow(
      expect.objectContaining({ name: "ConverterError" }),
    );
  });
});

describe("GPUs of plugins", () => {
  const env = { MDEV_PCI_RESOURCE_G: "u1,u2", PCI_RESOURCE_P: "0000:81:00.0" };
  const displays = (gpus: Parameters<typeof pluginGpus>[0]): unknown =>
    pluginGpus(gpus, env).map(({ Display = "", RamFB = "" }) => `${Display} ${RamFB}`);

  test("make the first virtual one the display", () => {
    const gpus = ["a", "b"].map((name) => ({ name, deviceName: "g" }));
    expect(displays(gpus)).toEqual(["on on", " "]);
  });

  test("have the displays that the VMI sets, if it sets any", () => {
    const off = { display: { enabled: false } };
    const bare = { display: { ramFB: { enabled: false } } };
    expect(
      displays([
        { name: "a", deviceName: "g", virtualGPUOptions: off },
        { name: "b", deviceName: "g", virtualGPUOptions: bare },
      ]),
    ).toEqual([" ", "on "]);
  });

  test("that are PCI functions are displays only if the VMI says so", () => {
    expect(displays([{ name: "p", deviceName: "p" }])).toEqual([" "]);
    const on = { display: { enabled: true, ramFB: { enabled: true } } };
    expect(displays([{ name: "p", deviceName: "p", virtualGPUOptions: on }])).toEqual(["on on"]);
  });

  test("fail with a frame buffer that is neither on nor off, where KubeVirt crashes", () => {
    const unset = { display: { ramFB: {} } };
    expect(() =>
      pluginGpus([{ name: "a", deviceName: "g", virtualGPUOptions: unset }], env),
    ).toThrow(expect.objectContaining({ path: "spec.domain.devices.gpus" }));
  });
});
