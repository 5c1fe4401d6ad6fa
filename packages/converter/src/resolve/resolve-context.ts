import { type ClusterConfig, clusterConfig } from "@virtkit/api/config";
import type { Names } from "@virtkit/api/names";
import { domainAttachments } from "@virtkit/api/network";
import type { VirtualMachineInstance, VolumeStatus } from "@virtkit/api/schema";
import { architectureOf } from "../architecture/architecture-of.ts";
import type { ConverterContext, DiskInfo, HostFacts } from "../context.ts";
import { invalidContext } from "../converter-error.ts";
import { LauncherPaths } from "../launcher-paths.ts";
import { malformedVmi } from "../malformed-vmi.ts";

import { claimedHostDevices } from "./claimed-devices.ts";
import { claimedGpus } from "./claimed-gpus.ts";
import type { Environment } from "./environment.ts";
import { chooseFirmware } from "./firmware.ts";
import { pluginGpus, pluginHostDevices } from "./plugin-devices.ts";
import { claimedNetworkDevices, multusDevices } from "./sriov-devices.ts";

/**
 * Creates the context of a conversion from the environment. A pure function; the VMI must have its defaults.
 *
 * @throws ConverterError if the environment lacks something that the VMI needs: firmware, assigned devices, images
 * in a supported format.
 */
export function resolveContext(
  vmi: VirtualMachineInstance,
  environment: Environment = {},
): ConverterContext {
  try {
    return contextOf(vmi, environment, environment.config ?? clusterConfig());
  } catch (error) {
    throw malformedVmi(error, vmi);
  }
}

function contextOf(
  vmi: VirtualMachineInstance,
  environment: Environment,
  config: ClusterConfig,
): ConverterContext {
  const guest = vmi.spec.architecture ?? "";
  const host = environment.hostArchitecture ?? (guest || config.defaultArchitecture);
  const crossArchitecture =
    environment.allowCrossArchEmulation === true && guest !== "" && guest !== host;
  const architecture = crossArchitecture ? guest : host;
  return {
    architecture: architectureOf(architecture).name,
    hostArchitecture: host,
    allowCrossArchEmulation: crossArchitecture,
    allowEmulation: environment.allowEmulation ?? config.useEmulation,
    hypervisorDeviceAvailable: environment.hypervisorDeviceAvailable ?? true,
    hypervisorName: environment.hypervisorName ?? "kvm",
    cpuSet: environment.cpuSet ?? [],
    topology: environment.topology ?? {},
    efiConfiguration: chooseFirmware(vmi, {
      directory: config.ovmfPath(guest),
      names: environment.efiRoms,
      architecture,
      autoSelection: config.gate("FirmwareAutoSelection"),
    }),
    iommufdEnabled: environment.iommufd ?? false,
    domainAttachmentByInterfaceName: domainAttachments(vmi, config.networkBindings),
    ...clusterSettings(vmi, config),
    ...storageContext(vmi, environment, config),
    ...namesContext(config.names),
    ...securityContext(vmi),
    ...deviceContext(vmi, environment),
    host: hostFacts(environment),
  };
}

function clusterSettings(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
): Partial<ConverterContext> {
  const { logSerialConsole } = vmi.spec.domain.devices ?? {};
  return {
    smBios: config.smbios,
    memBalloonStatsPeriod: config.memBalloonStatsPeriod,
    freePageReporting: !config.freePageReportingDisabled && reportsFreePages(vmi, config),
    bochsForEFIGuests: !config.vgaDisplayForEfiGuests,
    serialConsoleLog: logSerialConsole ?? !config.serialConsoleLogDisabled,
    pciNumaAwareTopologyEnabled: config.gate("PCINUMAAwareTopology"),
    graceIOVirtualizationEnabled: config.gate("GraceIOVirtualization"),
  };
}

/** A guest with dedicated memory has nothing to give back, and would pay for reporting it. */
function reportsFreePages(
  { spec, metadata }: VirtualMachineInstance,
  { names }: ClusterConfig,
): boolean {
  const { cpu, memory, devices } = spec.domain;
  const highPerformance = cpu?.dedicatedCpuPlacement || cpu?.realtime || memory?.hugepages;
  return (
    !highPerformance &&
    devices?.autoattachMemBalloon !== false &&
    metadata?.annotations?.[names.annotations.freePageReportingDisabled] !== "true"
  );
}

function storageContext(
  vmi: VirtualMachineInstance,
  { blockVolumes = [], disksInfo, applyCBT }: Environment,
  { names }: ClusterConfig,
): Partial<ConverterContext> {
  const isBlockPVC: Record<string, boolean> = {};
  const isBlockDV: Record<string, boolean> = {};
  for (const volume of vmi.spec.volumes ?? []) {
    const name = volume.name ?? "";
    const block = blockVolumes.includes(name);
    if (volume.persistentVolumeClaim || volume.ephemeral) isBlockPVC[name] = block;
    else if (volume.dataVolume) isBlockDV[name] = block;
    else if (volume.containerDisk) requireImage(name, disksInfo?.[name]);
  }
  return {
    isBlockPVC,
    isBlockDV,
    applyCBT: applyCBT ?? null,
    ...volumesByOrigin(vmi.status?.volumeStatus ?? []),
    disksInfo: disksInfo ?? assumedImages(vmi),
    ephemeralDiskDir: new LauncherPaths(names.directories).ephemeralDisks,
  };
}

/** The names that differ from KubeVirt's. */
function namesContext({ options }: Names): Pick<ConverterContext, "names"> {
  return Object.keys(options).length > 0 ? { names: options } : {};
}

/** An image with a backing file would expose a file of the launcher to the guest. */
function requireImage(volume: string, info: DiskInfo | undefined): void {
  if (!info) return;
  const { format, "backing-filename": backing } = info;
  const where = `disksInfo.${volume}`;
  if (format !== "qcow2" && format !== "raw") {
    throw invalidContext(
      where,
      `its format is "${format ?? ""}"; use an image that is qcow2 or raw`,
    );
  }
  if (format === "qcow2" && backing) {
    throw invalidContext(where, `it has the backing file "${backing}"; use an image without one`);
  }
}

/** Volumes by how they were added, and the fully allocated ones. */
function volumesByOrigin(
  statuses: readonly VolumeStatus[],
): Pick<ConverterContext, "hotplugVolumes" | "permanentVolumes" | "volumesDiscardIgnore"> {
  const hotplugVolumes: Record<string, VolumeStatus> = {};
  const permanentVolumes: Record<string, VolumeStatus> = {};
  const volumesDiscardIgnore: string[] = [];
  for (const status of statuses) {
    const name = status.name ?? "";
    (status.hotplugVolume ? hotplugVolumes : permanentVolumes)[name] = status;
    if (status.persistentVolumeClaimInfo?.preallocated) volumesDiscardIgnore.push(name);
  }
  return { hotplugVolumes, permanentVolumes, volumesDiscardIgnore };
}

/** Nothing is known about the images: container disks are usually qcow2. */
function assumedImages({ spec }: VirtualMachineInstance): Record<string, DiskInfo> {
  const images: Record<string, DiskInfo> = {};
  for (const { name, containerDisk } of spec.volumes ?? []) {
    if (containerDisk) images[name ?? ""] = { format: "qcow2" };
  }
  return images;
}

function securityContext({ spec }: VirtualMachineInstance): Partial<ConverterContext> {
  const { launchSecurity, devices } = spec.domain;
  return {
    useVirtioTransitional: devices?.useVirtioTransitional === true,
    useLaunchSecuritySEV: Boolean(launchSecurity?.sev || launchSecurity?.snp),
    useLaunchSecurityTDX: Boolean(launchSecurity?.tdx),
    useLaunchSecurityPV: Boolean(launchSecurity) && spec.architecture === "s390x",
  };
}

function deviceContext(
  vmi: VirtualMachineInstance,
  { env = {}, hostFiles = {}, networkInfo, graceHostDeviceAliases }: Environment,
): Partial<ConverterContext> {
  const { hostDevices = [], gpus = [] } = vmi.spec.domain.devices ?? {};
  return {
    sriovDevices: [...multusDevices(vmi, networkInfo), ...claimedNetworkDevices(vmi, hostFiles)],
    genericHostDevices: [
      ...pluginHostDevices(hostDevices ?? [], env),
      ...claimedHostDevices(vmi, hostFiles),
    ],
    gpuHostDevices: [...pluginGpus(gpus ?? [], env), ...claimedGpus(vmi, hostFiles)],
    graceHostDeviceAliases: graceHostDeviceAliases ?? null,
  };
}

/** The part of an environment that a conversion looks up. */
export function hostFacts(environment: HostFacts): HostFacts {
  const { launcherLogVerbosity, blockSizes, pciDeviceNumaNodes } = environment;
  const { hostNumaNodeCPUs, emulatorBinaries, hostFiles } = environment;
  return {
    ...(launcherLogVerbosity === undefined ? {} : { launcherLogVerbosity }),
    ...(blockSizes ? { blockSizes } : {}),
    ...(pciDeviceNumaNodes ? { pciDeviceNumaNodes } : {}),
    ...(hostNumaNodeCPUs ? { hostNumaNodeCPUs } : {}),
    ...(emulatorBinaries ? { emulatorBinaries } : {}),
    ...(hostFiles ? { hostFiles } : {}),
  };
}
