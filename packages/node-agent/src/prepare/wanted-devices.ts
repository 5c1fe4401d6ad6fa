import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { blockVolumes } from "@virtkit/api/volumes";

/** A device that the launcher's user is to own. */
export interface WantedDevice {
  /** As the sandbox sees it. */
  readonly path: string;
  readonly type: "char" | "block";
  /** Whether the guest can do without. */
  readonly optional: boolean;
  /** The field that asks for it. */
  readonly because: string;
}

/** The node of the hypervisor, as the launcher has it. */
export function hypervisorDevice(config: ClusterConfig): string {
  return config.hypervisor.name === "hyperv-direct" ? "/dev/mshv" : "/dev/kvm";
}

/**
 * The devices of a VMI, as KubeVirt gives them out: the hypervisor's, which emulation does without, TUN
 * and vhost for networks, VSOCK, memory encryption, and claims that are block devices. VFIO devices are
 * apart: they are whatever the device plugins have put into the Pod.
 */
export function wantedDevices(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
): readonly WantedDevice[] {
  const { devices, launchSecurity } = vmi.spec.domain;
  const interfaces = devices.interfaces ?? [];
  const char = (path: string, because: string, optional = false): WantedDevice => ({
    path,
    type: "char",
    optional,
    because,
  });
  const emulation = config.useEmulation;
  const wanted = [char(hypervisorDevice(config), "spec.domain", emulation)];
  if (!emulation && interfaces.some(({ model }) => !model || model === "virtio")) {
    wanted.push(char("/dev/vhost-net", "spec.domain.devices.interfaces"));
  }
  if (interfaces.length > 0 || devices.autoattachPodInterface !== false) {
    wanted.push(char("/dev/net/tun", "spec.domain.devices.interfaces"));
  }
  if (devices.autoattachVSOCK) {
    wanted.push(char("/dev/vhost-vsock", "spec.domain.devices.autoattachVSOCK"));
  }
  if (launchSecurity?.sev || launchSecurity?.snp) {
    wanted.push(char("/dev/sev", "spec.domain.launchSecurity"));
  }
  return [...wanted, ...blockClaims(vmi)];
}

function blockClaims(vmi: VirtualMachineInstance): WantedDevice[] {
  const plugged = new Set(
    (vmi.status?.volumeStatus ?? []).filter((one) => one.hotplugVolume).map(({ name }) => name),
  );
  return blockVolumes(vmi)
    .filter((name) => !plugged.has(name))
    .map((name) => ({
      path: `/dev/${name}`,
      type: "block",
      optional: false,
      because: `spec.volumes.${name}`,
    }));
}
