import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { architectureOf } from "./architecture/architecture-of.ts";
import { requestedTopology } from "./compute/cpu-topology.ts";
import { planIoThreads } from "./compute/io-thread-plan.ts";
import type { ConverterContext } from "./context.ts";
import type { Draft } from "./draft.ts";
import type { Domain } from "./model/domain.ts";
import { platformOf } from "./platform.ts";

/** A conversion before its first configurator: an empty domain, and what all of them need. */
export function startDraft(vmi: VirtualMachineInstance, context: ConverterContext): Draft {
  const spec = vmi.spec.domain;
  const devices = spec.devices ?? {};
  const architecture = architectureOf(context.architecture);
  const { names, paths } = platformOf(context);
  return {
    vmi,
    spec,
    devices,
    annotations: vmi.metadata?.annotations ?? {},
    context,
    names,
    paths,
    architecture,
    topology: requestedTopology(spec),
    ioThreads: planIoThreads(spec),
    virtioModel: architecture.virtioModel(devices.useVirtioTransitional === true),
    iommu: context.useLaunchSecuritySEV || context.useLaunchSecurityPV ? "on" : undefined,
    domain: emptyDomain(architecture.osArch),
  };
}

/** With every property from the start: objects of one shape are read several times as fast. */
function emptyDomain(arch: string): Domain {
  return {
    type: "kvm",
    xmlnsQemu: "http://libvirt.org/schemas/domain/qemu/1.0",
    name: "",
    uuid: undefined,
    // The launcher fills in the uid once the domain is defined.
    metadata: { kubevirt: { xmlns: "http://kubevirt.io", uid: "", graceperiod: undefined } },
    maxMemory: undefined,
    memory: { unit: "b", value: 0 },
    currentMemory: undefined,
    memoryBacking: undefined,
    vcpu: undefined,
    vcpus: undefined,
    iothreads: undefined,
    cputune: undefined,
    numatune: undefined,
    sysinfo: undefined,
    os: {
      firmware: undefined,
      firmwareInfo: undefined,
      type: { arch, machine: undefined, os: "hvm" },
      loader: undefined,
      nvram: undefined,
      kernel: undefined,
      initrd: undefined,
      cmdline: undefined,
      acpi: undefined,
      smbios: undefined,
      bootmenu: undefined,
      bios: undefined,
    },
    features: undefined,
    cpu: { mode: undefined, model: undefined, topology: undefined, features: [], numa: undefined },
    clock: undefined,
    onReboot: undefined,
    devices: {
      emulator: undefined,
      disks: [],
      controllers: [],
      filesystems: [],
      interfaces: [],
      serials: [],
      consoles: [],
      channels: [],
      inputs: [],
      tpms: [],
      graphics: [],
      sounds: [],
      videos: [],
      hostDevices: [],
      redirectedDevices: [],
      watchdogs: [],
      memballoon: undefined,
      rng: undefined,
      panics: [],
      iommus: [],
      vsock: undefined,
    },
    launchSecurity: undefined,
    iommufd: undefined,
    qemuCommandline: undefined,
  };
}
