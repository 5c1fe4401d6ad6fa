import type { NamesOptions } from "@virtkit/api/names";
import type { VolumeStatus } from "@virtkit/api/schema";

/**
 * What a conversion needs to know besides the VMI: settings of the cluster, facts about the node, assigned devices.
 * Plain JSON. `resolveContext` creates it from an environment. A property that is `null` or missing counts as empty
 * or false.
 */
export interface ConverterContext {
  /** The guest's architecture as Kubernetes names it; an unknown one is treated as `amd64`. */
  readonly architecture: string;
  readonly hostArchitecture?: string | null;
  /** Whether a guest of an architecture other than the host's is emulated. */
  readonly allowCrossArchEmulation?: boolean | null;
  /** Whether software emulation may replace a missing hypervisor device. */
  readonly allowEmulation?: boolean | null;
  readonly hypervisorDeviceAvailable?: boolean | null;
  /** `kvm` or `hyperv-direct`. */
  readonly hypervisorName?: string | null;
  /** Host CPUs of the Pod. */
  readonly cpuSet?: readonly number[] | null;
  readonly topology?: NodeTopology | null;
  /** Whether the volume behind a PersistentVolumeClaim is a block device, by volume name. */
  readonly isBlockPVC?: Readonly<Record<string, boolean>> | null;
  /** Whether the volume behind a DataVolume is a block device, by volume name. */
  readonly isBlockDV?: Readonly<Record<string, boolean>> | null;
  /** Overlay that tracks changed blocks, by volume name. */
  readonly applyCBT?: Readonly<Record<string, string>> | null;
  readonly hotplugVolumes?: Readonly<Record<string, VolumeStatus>> | null;
  /** Volumes that exist from the start; empty means all. */
  readonly permanentVolumes?: Readonly<Record<string, VolumeStatus>> | null;
  /** The output of `qemu-img info` for the images of container disks, by volume name. */
  readonly disksInfo?: Readonly<Record<string, DiskInfo>> | null;
  readonly ephemeralDiskDir?: string | null;
  /** Fully allocated volumes: their space must not be given back. */
  readonly volumesDiscardIgnore?: readonly string[] | null;
  readonly smBios?: ClusterSmbios | null;
  readonly sriovDevices?: readonly AssignedHostDevice[] | null;
  readonly genericHostDevices?: readonly AssignedHostDevice[] | null;
  readonly gpuHostDevices?: readonly AssignedHostDevice[] | null;
  readonly efiConfiguration?: EfiConfiguration | null;
  /** Seconds between two reports of the guest's memory use; 0 for none. */
  readonly memBalloonStatsPeriod?: number | null;
  readonly useVirtioTransitional?: boolean | null;
  readonly useLaunchSecuritySEV?: boolean | null;
  readonly useLaunchSecurityTDX?: boolean | null;
  readonly useLaunchSecurityPV?: boolean | null;
  readonly freePageReporting?: boolean | null;
  readonly bochsForEFIGuests?: boolean | null;
  readonly serialConsoleLog?: boolean | null;
  readonly pciNumaAwareTopologyEnabled?: boolean | null;
  readonly graceIOVirtualizationEnabled?: boolean | null;
  readonly graceHostDeviceAliases?: readonly string[] | null;
  /** How an interface is attached (`tap`), by interface name. */
  readonly domainAttachmentByInterfaceName?: Readonly<Record<string, string>> | null;
  readonly iommufdEnabled?: boolean | null;
  /** The platform's names for annotations and directories, if they differ from KubeVirt's. */
  readonly names?: NamesOptions | null;
  /** What the conversion looks up on the node; few VMIs need it. */
  readonly host?: HostFacts | null;
}

/** NUMA cells of the node, as the node agent reports them; a missing `id` is 0. */
export interface NodeTopology {
  readonly numa_cells?: readonly NodeCell[] | null;
}

/** A NUMA cell and its CPUs. */
export interface NodeCell {
  readonly id?: number;
  readonly cpus?: readonly NodeCpu[] | null;
}

/** A CPU and the CPUs of the same core, including itself. */
export interface NodeCpu {
  readonly id?: number;
  readonly siblings?: readonly number[] | null;
}

/** What is known about a disk image. */
export interface DiskInfo {
  readonly format: string;
  readonly "backing-filename"?: string;
  readonly "actual-size"?: number;
  readonly "virtual-size"?: number;
}

/** What guests read about their manufacturer. */
export interface ClusterSmbios {
  readonly manufacturer?: string;
  readonly product?: string;
  readonly version?: string;
  readonly sku?: string;
  readonly family?: string;
}

/** The firmware chosen for the guest. */
export interface EfiConfiguration {
  readonly EFICode: string;
  readonly EFIVars: string;
  readonly SecureLoader: boolean;
  /** libvirt chooses the firmware; the paths are then empty. */
  readonly UsesFirmwareAutoSelection: boolean;
}

/** A host device that is assigned to the guest. Empty strings mean nothing. */
export interface AssignedHostDevice {
  readonly Type: string;
  readonly Managed?: string;
  readonly Mode?: string;
  readonly Model?: string;
  readonly Display?: string;
  readonly RamFB?: string;
  readonly Source: { readonly Address?: AssignedAddress | null };
  readonly Address?: AssignedAddress | null;
  readonly Alias?: { readonly Name: string; readonly UserDefined: boolean } | null;
  readonly BootOrder?: { readonly Order: number } | null;
  readonly Driver?: { readonly Iommufd?: string } | null;
  readonly ACPI?: { readonly NodeSet?: string } | null;
}

/** An address of an {@link AssignedHostDevice}. Empty strings mean nothing. */
export interface AssignedAddress {
  readonly Type?: string;
  readonly Domain?: string;
  readonly Bus?: string;
  readonly Slot?: string;
  readonly Function?: string;
  readonly Controller?: string;
  readonly Target?: string;
  readonly Unit?: string;
  readonly UUID?: string;
  readonly Device?: string;
  readonly CSSID?: string;
  readonly SSID?: string;
  readonly DevNo?: string;
}

/** Facts about the node, for VMIs whose conversion needs them. */
export interface HostFacts {
  /** Verbosity of the launcher's log; above 5 the firmware's log is kept as well. */
  readonly launcherLogVerbosity?: string;
  /** Block sizes by path, for disks that match their volume. */
  readonly blockSizes?: Readonly<Record<string, BlockSizes>>;
  /** NUMA node of PCI devices according to sysfs, by address (`0000:81:00.0`). */
  readonly pciDeviceNumaNodes?: Readonly<Record<string, string>>;
  /** CPU list of NUMA nodes according to sysfs, by node. */
  readonly hostNumaNodeCPUs?: Readonly<Record<string, string>>;
  /** Emulators that are installed, by path. */
  readonly emulatorBinaries?: readonly string[];
  /** Contents of other files by path without the leading slash; `dir:` is a directory. */
  readonly hostFiles?: Readonly<Record<string, string>>;
}

/** The sizes of a block device, or of the file system of an image, in bytes. */
export interface BlockSizes {
  readonly logical?: number;
  readonly physical?: number;
  readonly discardGranularity?: number;
  readonly filesystemBsize?: number;
}
