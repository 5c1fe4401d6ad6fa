import type { GPU, HostDevice, VGPUDisplayOptions } from "@virtkit/api/schema";
import type { AssignedHostDevice } from "../context.ts";
import { invalidContext, invalidVmi } from "../converter-error.ts";
import { AddressPool } from "./address-pool.ts";
import { mediatedDevice, pciDevice, usbDevice } from "./assigned-device.ts";
import { usesClaim } from "./claimed-devices.ts";

type Env = Readonly<Record<string, string>>;

/**
 * Host devices that device plugins assigned: PCI, then mediated, then USB.
 *
 * @throws ConverterError unless every device of the VMI has exactly one.
 */
export function pluginHostDevices(devices: readonly HostDevice[], env: Env): AssignedHostDevice[] {
  const pools = poolsOf(devices, env);
  const assigned: AssignedHostDevice[] = [];
  for (const { name, deviceName = "" } of devices) {
    const address = pools.pci.take(deviceName);
    if (address) assigned.push(pciDevice(`hostdevice-${name ?? ""}`, address, envPath(deviceName)));
  }
  for (const { name, deviceName = "" } of devices) {
    const uuid = pools.mediated.take(deviceName);
    if (uuid) assigned.push(mediatedDevice(`hostdevice-${name ?? ""}`, uuid));
  }
  for (const { name, deviceName = "" } of devices) {
    const address = pools.usb.take(deviceName);
    if (address) assigned.push(usbDevice(`usb-host-${name ?? ""}`, address, envPath(deviceName)));
  }
  requireAll(devices, assigned, "spec.domain.devices.hostDevices");
  return assigned;
}

/**
 * GPUs that device plugins assigned: PCI, then mediated. The first mediated one is the display, unless the VMI
 * sets displays itself.
 *
 * @throws ConverterError unless every GPU of the VMI has exactly one device.
 */
export function pluginGpus(gpus: readonly GPU[], env: Env): AssignedHostDevice[] {
  const pools = poolsOf(gpus, env);
  const assigned: AssignedHostDevice[] = [];
  for (const { name, deviceName = "", virtualGPUOptions } of gpus) {
    const address = pools.pci.take(deviceName);
    if (!address) continue;
    const device = pciDevice(`gpu-${name ?? ""}`, address, envPath(deviceName));
    assigned.push({ ...device, ...explicitDisplay(virtualGPUOptions?.display) });
  }
  const mediated: AssignedHostDevice[] = [];
  for (const gpu of gpus) {
    const uuid = pools.mediated.take(gpu.deviceName ?? "");
    if (uuid) mediated.push(mediatedGpu(gpu, `gpu-${gpu.name ?? ""}`, uuid));
  }
  assigned.push(...withScreen(mediated, gpus));
  requireAll(gpus, assigned, "spec.domain.devices.gpus");
  return assigned;
}

/** A virtual GPU with the display that the VMI sets. */
export function mediatedGpu(gpu: GPU, alias: string, uuid: string): AssignedHostDevice {
  return { ...mediatedDevice(alias, uuid), ...mediatedDisplay(gpu) };
}

/** Makes the first mediated device the display if the VMI says nothing about displays. */
export function withScreen(
  devices: readonly AssignedHostDevice[],
  gpus: readonly GPU[],
): AssignedHostDevice[] {
  const first = devices.findIndex(({ Type }) => Type === "mdev");
  const stated = gpus.some(({ virtualGPUOptions }) => virtualGPUOptions?.display);
  if (stated || first < 0) return [...devices];
  return devices.map((device, at) =>
    at === first ? { ...device, Display: "on", RamFB: "on" } : device,
  );
}

type Display = Pick<AssignedHostDevice, "Display" | "RamFB">;

/** A PCI function may be a whole GPU: it is a display only if the VMI says so. */
function explicitDisplay(display: VGPUDisplayOptions | undefined): Display {
  if (display?.enabled !== true) return {};
  return display.ramFB?.enabled === true ? { Display: "on", RamFB: "on" } : { Display: "on" };
}

function mediatedDisplay({ name, virtualGPUOptions }: GPU): Display {
  const display = virtualGPUOptions?.display;
  if (!display || display.enabled === false) return {};
  if (!display.ramFB) return { Display: "on", RamFB: "on" };
  if (typeof display.ramFB.enabled !== "boolean") {
    const path = "spec.domain.devices.gpus";
    throw invalidVmi(path, `ramFB.enabled of the GPU "${name}" is not set; set it or remove ramFB`);
  }
  return display.ramFB.enabled ? { Display: "on", RamFB: "on" } : { Display: "on" };
}

interface Pools {
  readonly pci: AddressPool;
  readonly mediated: AddressPool;
  readonly usb: AddressPool;
}

function poolsOf(devices: readonly (HostDevice | GPU)[], env: Env): Pools {
  const resources = [...new Set(devices.map(({ deviceName = "" }) => deviceName))];
  return {
    pci: new AddressPool(env, "PCI_RESOURCE", resources),
    mediated: new AddressPool(env, "MDEV_PCI_RESOURCE", resources),
    usb: new AddressPool(env, "USB_RESOURCE", resources),
  };
}

function requireAll(
  wanted: readonly (HostDevice | GPU)[],
  assigned: readonly AssignedHostDevice[],
  path: string,
): void {
  const plugged = wanted.filter((device) => !usesClaim(device)).length;
  if (plugged === 0 || plugged === assigned.length) return;
  const message = `${path} has ${plugged} device(s), but the device plugins assigned ${assigned.length}`;
  throw invalidContext("env", message);
}

function envPath(resource: string): string {
  return `env (${resource})`;
}
