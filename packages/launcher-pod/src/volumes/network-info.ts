import { part } from "../explain.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import type { Step } from "../pod-draft.ts";

/** The Pod's own annotation with its network devices, as a file: SR-IOV and some plugins read it. */
export const networkInfo: Step = (request, { volumes, mounts }) => {
  if (!needsDeviceInfo(request)) return;
  mounts.push({ name: networkInfoVolume, mountPath: request.profile.directories.networkInfo });
  const fieldPath = `metadata.annotations['${request.names.annotations.networkInfo}']`;
  volumes.push({
    name: networkInfoVolume,
    downwardAPI: { items: [{ path: "network-info", fieldRef: { fieldPath } }] },
  });
  request.explain?.(
    part.volume(networkInfoVolume),
    "vmi.spec.domain.devices.interfaces",
    "an interface needs to know its device: SR-IOV, or a plugin that asks for it",
  );
};

/** Name of the volume with the network-info file. */
export const networkInfoVolume = "network-info-annotation";

function needsDeviceInfo({ devices, config }: LauncherRequest): boolean {
  const plugins = config.networkBindings;
  for (const { sriov, binding } of devices.interfaces ?? []) {
    if (sriov) return true;
    if (!binding || !Object.hasOwn(plugins, binding.name)) continue;
    if (plugins[binding.name]?.downwardAPI === "device-info") return true;
  }
  return false;
}
