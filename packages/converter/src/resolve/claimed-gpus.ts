import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { AssignedHostDevice } from "../context.ts";
import { pciDevice } from "./assigned-device.ts";
import { claimed } from "./claimed-devices.ts";
import { mediatedGpu, withScreen } from "./plugin-devices.ts";

/** GPUs from resource claims; as with plugins, the first mediated one is the display by default. */
export function claimedGpus(
  vmi: VirtualMachineInstance,
  files: Readonly<Record<string, string>>,
): AssignedHostDevice[] {
  const gpus = vmi.spec.domain.devices?.gpus ?? [];
  const devices = claimed(vmi, gpus, "gpus", files).map(({ device, found, path }) => {
    const alias = `dra-gpu-${device.name ?? ""}`;
    return found.uuid === undefined
      ? pciDevice(alias, found.pciAddress, path)
      : mediatedGpu(device, alias, found.uuid);
  });
  return withScreen(devices, gpus);
}
