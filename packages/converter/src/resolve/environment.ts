import type { ClusterConfig } from "@virtkit/api/config";
import type { DiskInfo, HostFacts, NodeTopology } from "../context.ts";

/**
 * Everything outside the VMI that affects the result: the cluster's configuration, the node, the Pod. By
 * default, an ordinary cluster and a node that has what the VMI needs.
 */
export interface Environment extends HostFacts {
  /** The cluster's configuration. Default: `clusterConfig()`, for a cluster that sets nothing. */
  readonly config?: ClusterConfig;
  /** Architecture of the node. Default: that of the VMI. */
  readonly hostArchitecture?: string;
  /** Whether the VMI belongs to a VM, whose controller adds an input device on request. */
  readonly ownedByVM?: boolean;
  /** UUID for firmware that has none. Default: a random one. */
  readonly firmwareUUID?: string;
  /** Whether software emulation may replace a missing hypervisor device. */
  readonly allowEmulation?: boolean;
  /** Whether `/dev/kvm` or `/dev/mshv` exists. Default: yes. */
  readonly hypervisorDeviceAvailable?: boolean;
  /** `kvm`, the default, or `hyperv-direct`. */
  readonly hypervisorName?: string;
  /** Whether guests of other architectures may be emulated. */
  readonly allowCrossArchEmulation?: boolean;
  /** Host CPUs of the Pod. */
  readonly cpuSet?: readonly number[];
  readonly topology?: NodeTopology;
  /** Volumes that are block devices in the launcher. */
  readonly blockVolumes?: readonly string[];
  /** Images of container disks by volume. Default: every one is qcow2. */
  readonly disksInfo?: Readonly<Record<string, DiskInfo>>;
  /** Overlay that tracks changed blocks, by volume. */
  readonly applyCBT?: Readonly<Record<string, string>>;
  /** Firmware files in the launcher's image. Default: those of KubeVirt's. */
  readonly efiRoms?: readonly string[];
  /** Whether the launcher has an IOMMU file descriptor. */
  readonly iommufd?: boolean;
  /** The launcher's environment variables; device plugins name assigned devices there. */
  readonly env?: Readonly<Record<string, string>>;
  /** Content of the file that names the PCI addresses of networks. */
  readonly networkInfo?: NetworkInfo;
  /** Aliases of NVIDIA Grace GPUs among the assigned devices. */
  readonly graceHostDeviceAliases?: readonly string[];
  /** Links in the Pod's network namespace, by name; used by the launcher's edits. */
  readonly podLinks?: Readonly<Record<string, PodLink>>;
  /** Path prefixes on which direct I/O does not work; used by the launcher's edits. */
  readonly noDirectIO?: readonly string[];
  /** Path prefixes on which trying direct I/O fails; used by the launcher's edits. */
  readonly directIOErrors?: readonly string[];
  /** Fully allocated images; used by the launcher's edits. */
  readonly preallocatedPaths?: readonly string[];
}

/** PCI addresses of networks, as the network plugin reports them. */
export interface NetworkInfo {
  readonly interfaces?: readonly NetworkInfoInterface[];
}

/** A network and the device that was assigned for it. */
export interface NetworkInfoInterface {
  readonly network?: string;
  readonly deviceInfo?: { readonly pci?: { readonly "pci-address"?: string } };
}

/** A network link of the Pod. */
export interface PodLink {
  readonly mac?: string;
  readonly mtu?: number;
}
