/**
 * Where the launcher's container has its files. They are a contract between the domain, the Pod's
 * mounts and the code that makes the files.
 */
const privateDir = "/var/run/kubevirt-private";
const shareDir = "/var/run/kubevirt";
const containerDiskDir = `${shareDir}/container-disks`;
const hotplugDiskDir = `${shareDir}/hotplug-disks`;

/** File of the IOMMU, serial, screen and other sockets of one guest. */
export function guestSocket(uid: string, name: string): string {
  return `${privateDir}/${uid}/${name}`;
}

/** Directory of the firmware's variables. */
export function nvramDirectory(nonRoot: boolean): string {
  return nonRoot ? `${privateDir}/libvirt/qemu/nvram` : "/var/lib/libvirt/qemu/nvram";
}

/** Image on a volume with a file system. */
export function filesystemImage(volume: string, file = "disk.img"): string {
  return `${privateDir}/vmi-disks/${volume}/${file}`;
}

/** Image of a host disk; the volume's own directory if the path on the host names no file. */
export function hostDiskImage(volume: string, path: string): string {
  const file = baseName(path);
  return file === "." || file === "/"
    ? `${privateDir}/vmi-disks/${volume}`
    : filesystemImage(volume, file);
}

/** A volume that is a block device. */
export function blockDevice(volume: string): string {
  return `/dev/${volume}`;
}

/** Whether a path is that of a hotplugged volume. */
export function isHotplugPath(path: string): boolean {
  return path.startsWith(hotplugDiskDir);
}

/** Image on a hotplugged volume with a file system. */
export function hotplugImage(volume: string): string {
  return `${hotplugDiskDir}/${volume}.img`;
}

/** A hotplugged volume that is a block device. */
export function hotplugBlockDevice(volume: string): string {
  return `${hotplugDiskDir}/${volume}`;
}

/** Image of a container disk, by the place of its volume in the VMI. */
export function containerDiskImage(volumeIndex: number): string {
  return `${containerDiskDir}/disk_${volumeIndex}.img`;
}

/** Kernel or initial RAM disk of a kernel boot container. */
export function kernelBootFile(artifact: string): string {
  const base = baseName(artifact);
  return base === "." || base === "/"
    ? `${containerDiskDir}/kernel-boot`
    : `${containerDiskDir}/kernel-boot/${base}`;
}

/** ISO image made of a ConfigMap, Secret, downward API or sysprep volume. */
export function generatedIso(
  kind: "config-map" | "secret" | "downwardapi" | "sysprep",
  volume: string,
): string {
  return `${privateDir}/${kind}-disks/${volume}.iso`;
}

/** Directory in which a Secret is mounted. */
export function secretDirectory(volume: string): string {
  return `${privateDir}/secret/${volume}`;
}

/** ISO image of the service account's token. */
export const serviceAccountIso: string = `${privateDir}/service-account-disk/service-account.iso`;

/** The disk that carries metrics of the host. */
export const downwardMetricsDisk: string = `${privateDir}/downwardapi-disks/vhostmd0`;

/** The socket that carries metrics of the host. */
export const downwardMetricsSocket: string = `${privateDir}/downwardmetrics-channel/downwardmetrics.sock`;

/** The pipe through which the firmware logs. */
export const firmwareLogPipe: string = `${privateDir}/QEMUSeaBiosDebugPipe`;

/** Log of the passt process. */
export const passtLog: string = `${shareDir}/passt.log`;

/** Socket of the helper for persistent reservations. */
export const reservationSocket: string = `${shareDir}/daemons/pr/pr-helper.sock`;

/** Socket of the virtiofs daemon of a volume. */
export function virtiofsSocket(volume: string): string {
  return `${shareDir}/virtiofs-containers/${volume}.sock`;
}

/** An empty disk. */
export function emptyDisk(volume: string): string {
  return `/var/run/libvirt/empty-disks/${volume}.qcow2`;
}

/** Directory of the overlays that vanish with the guest, unless the context names another. */
export const defaultEphemeralDiskDir: string = "/var/run/kubevirt-ephemeral-disks/disk-data";

/** Overlay of a volume; it vanishes with the guest. */
export function ephemeralOverlay(directory: string | null | undefined, volume: string): string {
  return `${directory ?? defaultEphemeralDiskDir}/${volume}/disk.qcow2`;
}

/** A file made for one guest, in a directory beside that of the overlays. */
export function guestDataFile(
  ephemeralDiskDir: string | null | undefined,
  kind: "cloud-init-data" | "ignition-data",
  { namespace, name }: { namespace?: string | null; name?: string | null },
  file: string,
): string {
  const directory = ephemeralDiskDir ?? defaultEphemeralDiskDir;
  const parent = directory.slice(0, Math.max(0, directory.lastIndexOf("/")));
  return `${parent}/${kind}/${namespace ?? ""}/${name ?? ""}/${file}`;
}

/** Last part of a path; `.` for an empty one, `/` for the root. */
export function baseName(path: string): string {
  if (path === "") return ".";
  let end = path.length;
  while (end > 0 && path[end - 1] === "/") end--;
  if (end === 0) return "/";
  return path.slice(path.lastIndexOf("/", end - 1) + 1, end);
}
