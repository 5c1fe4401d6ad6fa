import type { GPU, HostDevice } from "@virtkit/api/schema";
import { LauncherPodError } from "../launcher-pod-error.ts";
import { isClaimed } from "./device-resources.ts";
import type { ResourceRule } from "./resource-rule.ts";

/**
 * Refuses devices that the configuration does not permit. A configuration without `permittedHostDevices`
 * permits everything; claimed devices are ignored.
 */
export const checkPermittedDevices: ResourceRule = ({ config, devices }) => {
  const { permittedHostDevices: permitted } = config;
  if (!permitted) return;
  const names = new Set<string>();
  for (const list of [permitted.pciHostDevices, permitted.mediatedDevices, permitted.usb]) {
    for (const { resourceName } of list ?? []) names.add(resourceName);
  }
  check(devices.gpus, "gpus", names, config.gate("GPUsWithDRA"));
  check(devices.hostDevices, "hostDevices", names, config.gate("HostDevicesWithDRA"));
};

function check(
  list: readonly (GPU | HostDevice)[] | undefined,
  field: string,
  permitted: ReadonlySet<string>,
  mayClaim: boolean,
): void {
  for (const [index, device] of (list ?? []).entries()) {
    if (mayClaim && isClaimed(device)) continue;
    const name = device.deviceName ?? "";
    if (permitted.has(name)) continue;
    const path = `spec.domain.devices.${field}[${index}].deviceName`;
    const message = `${path} is "${name}", which is not in configuration.permittedHostDevices; add it there or use another device`;
    throw new LauncherPodError("LAUNCHER_POD_NOT_PERMITTED", message, { path });
  }
}
