import type { SchemaNode } from "@virtkit/api/schema";
import type { ConverterContext } from "../context.ts";

/** Who decides a field of the context. */
export type ContextOrigin = "cluster" | "node" | "field";

/** What a field of the context is, for explanations. */
export interface ContextField {
  readonly origin: ContextOrigin;
  readonly summary: string;
}

function cluster(summary: string): ContextField {
  return { origin: "cluster", summary };
}

function node(summary: string): ContextField {
  return { origin: "node", summary };
}

/** Derived from the VMI when the context was resolved. */
function derived(summary: string): ContextField {
  return { origin: "field", summary };
}

/** Every field of the context: who decides it, and what it says. */
export const contextFields: Readonly<Record<keyof ConverterContext, ContextField>> = {
  architecture: node("the guest's architecture"),
  hostArchitecture: node("the node's architecture"),
  allowCrossArchEmulation: cluster("whether guests of other architectures are emulated"),
  allowEmulation: cluster("whether emulation may replace a missing hypervisor device"),
  hypervisorDeviceAvailable: node("whether the node has the hypervisor's device"),
  hypervisorName: cluster("the hypervisor of the cluster"),
  cpuSet: node("the host CPUs of the Pod"),
  topology: node("the NUMA cells and CPUs of the node"),
  isBlockPVC: node("whether the volume behind a claim is a block device"),
  isBlockDV: node("whether the volume behind a DataVolume is a block device"),
  applyCBT: node("the overlay that tracks a volume's changed blocks"),
  hotplugVolumes: derived("the volumes that status.volumeStatus lists as hotplugged"),
  permanentVolumes: derived("the volumes that status.volumeStatus lists as present from the start"),
  disksInfo: node("what is known about a container disk's image"),
  ephemeralDiskDir: node("where overlays of container disks are kept"),
  volumesDiscardIgnore: derived("the fully allocated volumes, by status.volumeStatus"),
  smBios: cluster("what guests read about their manufacturer"),
  sriovDevices: node("the network functions that are assigned to the Pod"),
  genericHostDevices: node("the host devices that are assigned to the Pod"),
  gpuHostDevices: node("the GPUs that are assigned to the Pod"),
  efiConfiguration: node("the firmware of the launcher's image that fits the VMI"),
  memBalloonStatsPeriod: cluster("seconds between two reports of the guest's memory use"),
  useVirtioTransitional: derived("spec.domain.devices.useVirtioTransitional"),
  useLaunchSecuritySEV: derived("spec.domain.launchSecurity asks for SEV or SEV-SNP"),
  useLaunchSecurityTDX: derived("spec.domain.launchSecurity asks for TDX"),
  useLaunchSecurityPV: derived("spec.domain.launchSecurity on s390x"),
  freePageReporting: cluster("whether guests report free pages, unless their memory is dedicated"),
  bochsForEFIGuests: cluster("whether EFI guests get a Bochs display"),
  serialConsoleLog: cluster("whether serial consoles are logged, unless the VMI says otherwise"),
  pciNumaAwareTopologyEnabled: cluster("feature gate PCINUMAAwareTopology"),
  graceIOVirtualizationEnabled: cluster("feature gate GraceIOVirtualization"),
  graceHostDeviceAliases: node("the assigned devices that are NVIDIA Grace GPUs"),
  domainAttachmentByInterfaceName: cluster("how the binding of an interface attaches it"),
  iommufdEnabled: node("whether the launcher has an IOMMU file descriptor"),
  names: cluster("the platform's names for annotations and directories"),
  host: node("what was looked up on the node"),
};

/** The parts of the context's shape that are needed to try other meaningful values. */
export const contextSchema: SchemaNode = {
  kind: "object",
  required: [],
  fields: new Map(
    Object.entries({
      architecture: ["amd64", "arm64", "s390x"],
      hypervisorName: ["kvm", "hyperv-direct"],
    }).map(([key, known]) => [key, { required: false, schema: { kind: "string", known } }]),
  ),
};
