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
  /** What to do if the sandbox does not have it. */
  readonly otherwise: string;
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
  const char = (
    path: string,
    because: string,
    otherwise: string,
    optional = false,
  ): WantedDevice => ({ path, type: "char", optional, because, otherwise });
  const emulation = config.useEmulation;
  const hypervisor = hypervisorDevice(config);
  const wanted = [char(hypervisor, "spec.domain", hypervisorAdvice(hypervisor), emulation)];
  if (!emulation && interfaces.some(({ model }) => !model || model === "virtio")) {
    const advice = `${load("vhost_net", "VHOST_NET")}, or allow emulation (useEmulation), which does not need it`;
    wanted.push(char("/dev/vhost-net", "spec.domain.devices.interfaces", advice));
  }
  if (interfaces.length > 0 || devices.autoattachPodInterface !== false) {
    wanted.push(char("/dev/net/tun", "spec.domain.devices.interfaces", load("tun", "TUN")));
  }
  if (devices.autoattachVSOCK) {
    const advice = `${load("vhost_vsock", "VHOST_VSOCK")}, and enable the feature gate VSOCK, which offers it to Pods; emulation does not help`;
    wanted.push(char("/dev/vhost-vsock", "spec.domain.devices.autoattachVSOCK", advice));
  }
  if (launchSecurity?.sev || launchSecurity?.snp) {
    const advice =
      "use a node whose CPU and firmware have SEV turned on (kvm_amd with sev=1); emulation does not help";
    wanted.push(char("/dev/sev", "spec.domain.launchSecurity", advice));
  }
  return [...wanted, ...blockClaims(vmi)];
}

function hypervisorAdvice(path: string): string {
  const how =
    path === "/dev/kvm"
      ? "load kvm_intel or kvm_amd on the node (modprobe), turn virtualization on in its firmware"
      : "use a node whose kernel has it";
  return `${how}, or allow emulation (useEmulation)`;
}

/** What makes a kernel have a device that one of its modules brings. */
function load(module: string, option: string): string {
  return `load ${module} on the node (modprobe ${module}), or use a kernel with CONFIG_${option}`;
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
      otherwise: "give the Pod the claim as a block device (volumeDevices)",
    }));
}
