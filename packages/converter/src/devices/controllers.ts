import type { Disk } from "@virtkit/api/schema";
import { vcpusOf } from "../compute/cpu-topology.ts";
import { hasOwnThread } from "../compute/io-thread-plan.ts";
import type { Configurator, Draft } from "../draft.ts";
import type { DomainController, DomainControllerDriver } from "../model/controller.ts";

const disablePciHole64Annotation = "kubevirt.io/disablePCIHole64";

/** Controllers of USB, SCSI, PCI and virtio-serial. */
export const controllers: Configurator = {
  name: "controllers",
  configure(draft: Draft): void {
    const list = draft.domain.devices.controllers;
    list.push(
      controller(
        "usb",
        draft.architecture.needsUsb(draft.devices, draft.context) ? "qemu-xhci" : "none",
      ),
    );
    if (needsScsi(draft)) {
      const model = draft.architecture.scsiModel(draft.virtioModel);
      list.push({ ...controller("scsi", model), driver: scsiDriver(draft) });
    }
    if (draft.architecture.disablesPciHole64 && disablesPciHole64(draft)) {
      list.push({ ...controller("pci", "pcie-root"), pcihole64: { unit: "KiB", value: 0 } });
    }
    if (draft.devices.autoattachSerialConsole !== false) {
      const driver = draft.iommu ? { iommu: draft.iommu } : undefined;
      list.push({ ...controller("virtio-serial", draft.virtioModel), driver });
    }
  },
};

function controller(type: string, model: string): DomainController {
  return { type, index: 0, model };
}

/** Hotplugged disks go to the SCSI controller, so there is one unless hotplug is turned off. */
function needsScsi({ devices }: Draft): boolean {
  return !devices.disableHotplug || (devices.disks ?? []).some((disk) => busOf(disk) === "scsi");
}

function scsiDriver(draft: Draft): DomainControllerDriver | undefined {
  const { devices, ioThreads, iommu, topology } = draft;
  const disks = devices.disks ?? [];
  const threaded = disks.some((disk) => busOf(disk) === "scsi" && hasOwnThread(disk));
  if (ioThreads.shared === 0 || !threaded) return iommu ? { iommu } : undefined;
  return {
    iothread: nextSharedThread(disks, ioThreads.shared),
    queues: vcpusOf(topology) || 1,
    iommu,
  };
}

/** The thread whose turn it is once the virtio disks have theirs. */
function nextSharedThread(disks: readonly Disk[], shared: number): number {
  let thread = 1;
  for (const disk of disks) {
    if (busOf(disk) === "virtio" && !hasOwnThread(disk)) thread = (thread % shared) + 1;
  }
  return thread;
}

function disablesPciHole64({ annotations }: Draft): boolean {
  return annotations[disablePciHole64Annotation]?.toLowerCase() === "true";
}

function busOf({ lun, disk, cdrom }: Disk): string {
  return (lun ?? disk ?? cdrom)?.bus ?? "";
}
