import { attachmentDefinition } from "@virtkit/api/network";
import { newQuantity } from "@virtkit/api/quantity";
import type { GPU, HostDevice } from "@virtkit/api/schema";
import { part } from "../explain.ts";
import { usesReservations, wantsSev, wantsTdx } from "../guest-traits.ts";
import { LauncherPodError } from "../launcher-pod-error.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import { foreignNames } from "../well-known.ts";
import type { ResourceRule } from "./resource-rule.ts";
import { increase, type ResourceSheet } from "./resource-sheet.ts";

const one = newQuantity(1, "DecimalSI");

/** Requests one more device from a device plugin. What the VMI sets for the same resource is kept. */
function requestDevice(
  { explain }: LauncherRequest,
  sheet: ResourceSheet,
  name: string,
  from: string,
  because: string,
): void {
  increase(sheet.derivedLimits, name, one);
  increase(sheet.derivedRequests, name, one);
  if (!sheet.limits.has(name)) explain?.(part.limit(name), from, because);
  if (!sheet.requests.has(name)) explain?.(part.request(name), from, because);
}

/**
 * Devices of the node that make a guest fast: the hypervisor's, and those for networks. If guests may be
 * emulated, they do without.
 */
export const virtualizationDevices: ResourceRule = (request, { limits }) => {
  const { devices, config, names, explain } = request;
  const emulation = config.useEmulation;
  const interfaces = devices.interfaces ?? [];
  const limit = (device: string, from: string, because: string): void => {
    limits.set(device, one);
    explain?.(part.limit(device), from, because);
  };
  if (interfaces.length > 0 || devices.autoattachPodInterface !== false) {
    limit(
      names.devices.tun,
      "vmi.spec.domain.devices.interfaces",
      "the guest has a network interface",
    );
  }
  if (!emulation && interfaces.some(({ model }) => !model || model === "virtio")) {
    limit(
      names.devices.vhostNet,
      "vmi.spec.domain.devices.interfaces",
      "an interface is of model virtio",
    );
  }
  if (!emulation) {
    const hyperv = config.hypervisor.name === "hyperv-direct";
    limit(
      hyperv ? `${names.devices.root}mshv` : names.devices.kvm,
      "config.hypervisors",
      "guests are not emulated",
    );
  }
  if (devices.autoattachVSOCK) {
    limit(
      names.devices.vhostVsock,
      "vmi.spec.domain.devices.autoattachVSOCK",
      "the guest has a VSOCK",
    );
  }
};

/** Devices that network attachment definitions name, unless an admission webhook adds them. */
export const networkDevices: ResourceRule = (request, sheet) => {
  const { config, spec, lookup, namespace } = request;
  if (config.gate("ExternalNetResourceInjection")) return;
  const resources = new Map<string, string>();
  for (const [index, { name, multus }] of (spec.networks ?? []).entries()) {
    if (!multus) continue;
    const reference = attachmentDefinition(namespace, multus.networkName);
    const definition = lookup.networkAttachmentDefinition(reference.namespace, reference.name);
    if (!definition) {
      const path = `spec.networks[${index}].multus.networkName`;
      const message = `${path}: NetworkAttachmentDefinition "${reference.name}" does not exist in namespace "${reference.namespace}"; create it`;
      throw new LauncherPodError("LAUNCHER_POD_NOT_FOUND", message, { path });
    }
    const resource = definition.metadata.annotations?.[foreignNames.networkResource];
    resources.set(name, resource ?? "");
  }
  for (const [network, resource] of resources) {
    if (resource === "") continue;
    const because = `the definition of network ${network} names it`;
    requestDevice(request, sheet, resource, "cluster.networkAttachmentDefinitions", because);
  }
};

/** GPUs from device plugins or resource claims. */
export const gpuDevices: ResourceRule = (request, sheet) => {
  const { devices, config } = request;
  requestAll(request, sheet, devices.gpus, "gpus", config.gate("GPUsWithDRA"));
};

/** Host devices from device plugins or resource claims. */
export const hostDevices: ResourceRule = (request, sheet) => {
  const { devices, config } = request;
  requestAll(request, sheet, devices.hostDevices, "hostDevices", config.gate("HostDevicesWithDRA"));
};

function requestAll(
  request: LauncherRequest,
  sheet: ResourceSheet,
  list: readonly (GPU | HostDevice)[] | undefined,
  field: string,
  mayClaim: boolean,
): void {
  for (const [index, device] of (list ?? []).entries()) {
    const from = `vmi.spec.domain.devices.${field}[${index}]`;
    if (device.deviceName) {
      if (!isClaimed(device)) requestDevice(request, sheet, device.deviceName, from, "the device");
    } else if (mayClaim && isClaimed(device)) {
      claim(request, sheet, device, from);
    }
  }
}

/** Whether a device comes from a resource claim rather than from a device plugin. */
export function isClaimed({ claimName, requestName }: GPU | HostDevice): boolean {
  return claimName !== undefined || requestName !== undefined;
}

function claim(
  { explain }: LauncherRequest,
  { claims }: ResourceSheet,
  { claimName = "", requestName }: { claimName?: string; requestName?: string },
  from: string,
): void {
  claims.push(requestName ? { name: claimName, request: requestName } : { name: claimName });
  explain?.(part.claim(claimName), from, "comes from a resource claim");
}

/** Networks from resource claims. */
export const networkClaims: ResourceRule = (request, sheet) => {
  if (!request.config.gate("NetworkDevicesWithDRA")) return;
  for (const [index, { resourceClaim }] of (request.spec.networks ?? []).entries()) {
    if (resourceClaim) claim(request, sheet, resourceClaim, `vmi.spec.networks[${index}]`);
  }
};

/** Devices that encrypt a guest's memory. */
export const confidentialDevices: ResourceRule = (request, sheet) => {
  const from = "vmi.spec.domain.launchSecurity";
  if (wantsSev(request.spec)) {
    requestDevice(request, sheet, request.names.devices.sev, from, "AMD memory encryption");
  }
  if (wantsTdx(request.spec))
    requestDevice(request, sheet, request.names.devices.tdx, from, "Intel TDX");
};

/** The node's helper for SCSI reservations. */
export const reservationHelper: ResourceRule = (request, sheet) => {
  if (!usesReservations(request.spec)) return;
  const from = "vmi.spec.domain.devices.disks";
  requestDevice(
    request,
    sheet,
    request.names.devices.persistentReservation,
    from,
    "a LUN takes reservations",
  );
};

/** The device through which QEMU maps host devices, if the cluster enables it. */
export const iommuDevice: ResourceRule = (request, sheet) => {
  if (!request.config.gate("IOMMUFD")) return;
  const from = "config.developerConfiguration.featureGates[IOMMUFD]";
  requestDevice(
    request,
    sheet,
    request.names.devices.iommufd,
    from,
    "host devices are mapped through it",
  );
};
