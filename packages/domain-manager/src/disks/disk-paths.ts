import { type Directories, names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { CloudInitSource } from "./cloud-init/cloud-init-data.ts";
import { cloudInitImage } from "./cloud-init/cloud-init-media.ts";
import { DiskError } from "./disk-error.ts";

/** Kinds of volumes that become ISO images. */
export type ConfigVolume = "configMap" | "secret" | "sysprep" | "downwardAPI" | "serviceAccount";

const directoryNames = {
  configMap: "config-map",
  secret: "secret",
  sysprep: "sysprep",
  downwardAPI: "downwardapi",
} as const;

/**
 * Where the launcher's container has the files of a guest's disks: a contract with the Pod's mounts
 * and with the domain. All paths are absolute; names with a slash and the like are refused.
 */
export class DiskPaths {
  readonly #directories: Directories;

  /** KubeVirt's directories by default. */
  constructor(directories: Directories = names().directories) {
    this.#directories = directories;
  }

  /** Where all Secrets of a launcher are mounted. */
  get secrets(): string {
    return `${this.#directories.private}/secret`;
  }

  /** Where a volume is mounted that becomes an ISO image. */
  configSource(kind: ConfigVolume, volume: string): string {
    if (kind === "serviceAccount") return "/var/run/secrets/kubernetes.io/serviceaccount";
    return `${this.#directories.private}/${directoryNames[kind]}/${part(volume)}`;
  }

  /** That ISO image. */
  configImage(kind: ConfigVolume, volume: string): string {
    const { private: root } = this.#directories;
    if (kind === "serviceAccount") return `${root}/service-account-disk/service-account.iso`;
    return `${root}/${directoryNames[kind]}-disks/${part(volume)}.iso`;
  }

  cloudInit(vmi: VirtualMachineInstance, source: CloudInitSource): string {
    for (const name of guestParts(vmi)) part(name);
    return `${this.#directories.cloudInit}/${cloudInitImage(vmi, source)}`;
  }

  ignition(vmi: VirtualMachineInstance): string {
    const directory = `${this.#directories.ephemeralDisks}/ignition-data`;
    return [directory, ...guestParts(vmi).map(part), "data.ign"].join("/");
  }

  /** The disk from which the guest reads metrics of its host. */
  get downwardMetrics(): string {
    return `${this.#directories.private}/downwardapi-disks/vhostmd0`;
  }

  emptyDisk(volume: string): string {
    return `${this.#directories.emptyDisks}/${part(volume)}.qcow2`;
  }

  /** The overlay on an image that the guest must not change. */
  overlay(volume: string): string {
    return `${this.#directories.ephemeralDisks}/disk-data/${part(volume)}/disk.qcow2`;
  }

  /** Where images of container disks, kernels and initrds are mounted. */
  get containerDisks(): string {
    return this.#directories.containerDisks;
  }

  /** The files of a container disk's image, in a Pod that has the image as a volume. */
  imageVolume(volumeIndex: number): string {
    return `${this.#directories.imageVolumes}/disk_${volumeIndex}`;
  }

  /** The files of the image with the kernel, in a Pod that has it as a volume. */
  get kernelBootVolume(): string {
    return this.#directories.kernelBoot;
  }

  /** The image of a container disk, by the place of its volume in the VMI. */
  containerDisk(volumeIndex: number): string {
    return `${this.#directories.containerDisks}/disk_${volumeIndex}.img`;
  }

  /** Where a kernel or initrd of a kernel boot container is mounted. */
  kernelBoot(file: string): string {
    return `${this.#directories.containerDisks}/kernel-boot/${part(lastPart(file))}`;
  }

  /** Where a host disk, or the image on a claim with a file system, is mounted. */
  hostDiskDirectory(volume: string): string {
    return `${this.#directories.vmiDisks}/${part(volume)}`;
  }

  /** The image on a claim with a file system, or the claim itself if it is a block device. */
  claimImage(volume: string, isBlock: boolean): string {
    return isBlock ? `/dev/${part(volume)}` : `${this.hostDiskDirectory(volume)}/disk.img`;
  }

  /**
   * The file with a guest's firmware variables; libvirt keeps it elsewhere in an unprivileged
   * launcher.
   */
  firmwareVariables(vmi: VirtualMachineInstance, nonRoot: boolean): string {
    const directory = nonRoot
      ? `${this.#directories.private}/libvirt/qemu/nvram`
      : "/var/lib/libvirt/qemu/nvram";
    return `${directory}/${part(vmi.metadata?.name ?? "")}_VARS.fd`;
  }
}

function guestParts({ metadata }: VirtualMachineInstance): string[] {
  const { name = "", namespace } = metadata ?? {};
  return namespace ? [namespace, name] : [name];
}

/** Last part of a path; empty for one that ends in a slash. */
export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Checks that a name is one component of a path. */
function part(name: string): string {
  if (name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name) && name.length <= 255) {
    return name;
  }
  const shown = JSON.stringify(name.slice(0, 100));
  throw new DiskError("DISK_VMI_INVALID", `${shown} cannot be the name of a file; rename it`, {
    path: name,
  });
}
