import type { Disk } from "@virtkit/api/schema";
import { vcpusOf } from "../compute/cpu-topology.ts";
import { hasOwnThread } from "../compute/io-thread-plan.ts";
import type { Configurator, Draft } from "../draft.ts";
import type { DomainController, DomainControllerDriver } from "../model/controller.ts";

export const controllers: Configurator = {
  name: "controllers",
  summary: "Controllers of USB, SCSI, PCI and virtio-serial.",
  configure(draft: Draft): void {
    const { devices, context, architecture, virtioModel, iommu } = draft;
    const list = draft.domain.devices.controllers;
    const driver = iommu ? { iothread: undefined, queues: undefined, iommu } : undefined;
    list.push(controller("usb", architecture.needsUsb(devices, context) ? "qemu-xhci" : "none"));
    if (needsScsi(draft)) {
      list.push(
        controller("scsi", architecture.scsiModel(virtioModel), scsiDriver(draft) ?? driver),
      );
    }
    if (architecture.disablesPciHole64 && disablesPciHole64(draft)) {
      const root = controller("pci", "pcie-root");
      root.pcihole64 = { unit: "KiB", value: 0 };
      list.push(root);
    }
    if (devices.autoattachSerialConsole !== false) {
      list.push(controller("virtio-serial", virtioModel, driver && { ...driver }));
    }
  },
};

/** All properties at once: objects of one shape are read several times as fast. */
function controller(
  type: string,
  model: string,
  driver?: DomainControllerDriver,
): DomainController {
  return {
    type,
    index: 0,
    model,
    driver,
    pcihole64: undefined,
    target: undefined,
    alias: undefined,
    address: undefined,
  };
}

/** Hotplugged disks use the SCSI controller, so there is one unless hotplug is turned off. */
function needsScsi({ devices }: Draft): boolean {
  return !devices.disableHotplug || (devices.disks ?? []).some((disk) => busOf(disk) === "scsi");
}

/** With a thread and queues if a disk asks for them; `undefined` otherwise. */
function scsiDriver(draft: Draft): DomainControllerDriver | undefined {
  const { devices, ioThreads, iommu, topology } = draft;
  const disks = devices.disks ?? [];
  const threaded = disks.some((disk) => busOf(disk) === "scsi" && hasOwnThread(disk));
  if (ioThreads.shared === 0 || !threaded) return undefined;
  return {
    iothread: nextSharedThread(disks, ioThreads.shared),
    queues: vcpusOf(topology) || 1,
    iommu,
  };
}

/** The next thread in turn after those of the virtio disks. */
function nextSharedThread(disks: readonly Disk[], shared: number): number {
  let thread = 1;
  for (const disk of disks) {
    if (busOf(disk) === "virtio" && !hasOwnThread(disk)) thread = (thread % shared) + 1;
  }
  return thread;
}

function disablesPciHole64({ annotations, names }: Draft): boolean {
  return annotations[names.annotations.disablePciHole64]?.toLowerCase() === "true";
}

function busOf({ lun, disk, cdrom }: Disk): string {
  return (lun ?? disk ?? cdrom)?.bus ?? "";
}
