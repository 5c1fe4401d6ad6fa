import type { Directories } from "@virtkit/api/names";

/** Names a guest's data file after it. */
interface GuestName {
  readonly namespace?: string | null;
  readonly name?: string | null;
}

/**
 * Where the launcher's container has its files. They are a contract between the domain, the Pod's
 * mounts and the code that makes the files.
 */
export class LauncherPaths {
  readonly #private: string;
  readonly #share: string;
  readonly #containerDisks: string;
  readonly #hotplugDisks: string;
  readonly #emptyDisks: string;
  /** Directory of the ephemeral overlays, unless the context names another. */
  readonly ephemeralDisks: string;
  /** ISO image of the service account's token. */
  readonly serviceAccountIso: string;
  /** The disk that carries metrics of the host. */
  readonly downwardMetricsDisk: string;
  /** The socket that carries metrics of the host. */
  readonly downwardMetricsSocket: string;
  /** The pipe through which the firmware logs. */
  readonly firmwareLogPipe: string;
  /** Log of the passt process. */
  readonly passtLog: string;
  /** Socket of the helper for persistent reservations. */
  readonly reservationSocket: string;

  constructor(directories: Directories) {
    this.#private = directories.private;
    this.#share = directories.share;
    this.#containerDisks = directories.containerDisks;
    this.#hotplugDisks = directories.hotplugDisks;
    this.#emptyDisks = directories.emptyDisks;
    this.ephemeralDisks = `${directories.ephemeralDisks}/disk-data`;
    this.serviceAccountIso = `${this.#private}/service-account-disk/service-account.iso`;
    this.downwardMetricsDisk = `${this.#private}/downwardapi-disks/vhostmd0`;
    this.downwardMetricsSocket = `${this.#private}/downwardmetrics-channel/downwardmetrics.sock`;
    this.firmwareLogPipe = `${this.#private}/QEMUSeaBiosDebugPipe`;
    this.passtLog = `${this.#share}/passt.log`;
    this.reservationSocket = `${directories.daemons}/pr/pr-helper.sock`;
  }

  /** File of the IOMMU, serial, screen and other sockets of one guest. */
  guestSocket(uid: string, name: string): string {
    return `${this.#private}/${uid}/${name}`;
  }

  /** Directory of the firmware's variables. */
  nvramDirectory(nonRoot: boolean): string {
    return nonRoot ? `${this.#private}/libvirt/qemu/nvram` : "/var/lib/libvirt/qemu/nvram";
  }

  /** Image on a volume with a file system. */
  filesystemImage(volume: string, file = "disk.img"): string {
    return `${this.#private}/vmi-disks/${volume}/${file}`;
  }

  /** Image of a host disk; the volume's own directory if the path on the host does not name a file. */
  hostDiskImage(volume: string, path: string): string {
    const file = baseName(path);
    return file === "." || file === "/"
      ? `${this.#private}/vmi-disks/${volume}`
      : this.filesystemImage(volume, file);
  }

  /** Whether a path is that of a hotplugged volume. */
  isHotplugged(path: string): boolean {
    return path.startsWith(this.#hotplugDisks);
  }

  /** Image on a hotplugged volume with a file system. */
  hotplugImage(volume: string): string {
    return `${this.#hotplugDisks}/${volume}.img`;
  }

  /** A hotplugged volume that is a block device. */
  hotplugBlockDevice(volume: string): string {
    return `${this.#hotplugDisks}/${volume}`;
  }

  /** Image of a container disk, by the place of its volume in the VMI. */
  containerDiskImage(volumeIndex: number): string {
    return `${this.#containerDisks}/disk_${volumeIndex}.img`;
  }

  /** Kernel or initial RAM disk of a kernel boot container. */
  kernelBootFile(artifact: string): string {
    const base = baseName(artifact);
    return base === "." || base === "/"
      ? `${this.#containerDisks}/kernel-boot`
      : `${this.#containerDisks}/kernel-boot/${base}`;
  }

  /** ISO image made from a ConfigMap, Secret, downward API or sysprep volume. */
  generatedIso(kind: "config-map" | "secret" | "downwardapi" | "sysprep", volume: string): string {
    return `${this.#private}/${kind}-disks/${volume}.iso`;
  }

  /** Directory in which a Secret is mounted. */
  secretDirectory(volume: string): string {
    return `${this.#private}/secret/${volume}`;
  }

  /** Socket of the virtiofs daemon of a volume. */
  virtiofsSocket(volume: string): string {
    return `${this.#share}/virtiofs-containers/${volume}.sock`;
  }

  /** An empty disk. */
  emptyDisk(volume: string): string {
    return `${this.#emptyDisks}/${volume}.qcow2`;
  }

  /** Overlay of a volume; it is deleted with the guest. */
  ephemeralOverlay(directory: string | null | undefined, volume: string): string {
    return `${directory ?? this.ephemeralDisks}/${volume}/disk.qcow2`;
  }

  /** A file made for one guest, in a directory beside that of the overlays. */
  guestDataFile(
    ephemeralDiskDir: string | null | undefined,
    kind: "cloud-init-data" | "ignition-data",
    { namespace, name }: GuestName,
    file: string,
  ): string {
    const directory = ephemeralDiskDir ?? this.ephemeralDisks;
    const parent = directory.slice(0, Math.max(0, directory.lastIndexOf("/")));
    return `${parent}/${kind}/${namespace ?? ""}/${name ?? ""}/${file}`;
  }
}

/** A volume that is a block device. */
export function blockDevice(volume: string): string {
  return `/dev/${volume}`;
}

/** Last part of a path; `.` for an empty one, `/` for the root. */
export function baseName(path: string): string {
  if (path === "") return ".";
  let end = path.length;
  while (end > 0 && path[end - 1] === "/") end--;
  if (end === 0) return "/";
  return path.slice(path.lastIndexOf("/", end - 1) + 1, end);
}
