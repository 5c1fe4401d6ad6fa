import { ApiError } from "../api-error.ts";
import type { Directories } from "./directories.ts";

/**
 * Sockets and the files beside them. Arguments become parts of paths: one that is empty, `.` or `..`, or
 * contains a slash or a NUL is refused with an `ApiError`.
 */
export interface Sockets {
  /** The launcher's command socket, in the launcher. */
  readonly launcher: string;
  /** Its name until the launcher is ready; renaming it signals that. */
  readonly launcherInit: string;
  /** Exists once the launcher has stopped answering. */
  readonly launcherUnresponsive: string;
  /** On the node agent's side: where launchers without a connection report. */
  readonly notify: string;
  /** The same, as a launcher sees it. */
  readonly notifyPipe: string;
  /** libvirt, in a launcher. */
  readonly libvirt: string;
  /** Open file descriptors of devices, in a launcher. */
  readonly iommufd: string;
  /** Calls of libvirt's migration hook, in a launcher. */
  readonly migrationHook: string;
  /** The directory of a Pod's `emptyDir` volume, as the node agent sees it. */
  podVolume(podUid: string, volume: string): string;
  /** A launcher's command socket, as the node agent sees it. */
  launcherOfPod(podUid: string): string;
  /** Serves one container disk of a launcher, as the node agent sees it. */
  containerDiskOfPod(podUid: string, index: number): string;
  /** Serves the kernel and initrd of a launcher, as the node agent sees it. */
  kernelBootOfPod(podUid: string): string;
  /** Serves the volumes of an attachment Pod, as the node agent sees it. */
  hotplugOfPod(podUid: string): string;
  /** A guest's serial console; `port` counts from 0. */
  serial(vmiUid: string, port?: number): string;
  vnc(vmiUid: string): string;
  /** One of a guest's four slots for redirected USB devices, from 0. */
  usbRedirect(vmiUid: string, slot: number): string;
  /** One end of a migration: libvirt's own connection, or that of one of its ports. */
  migrationProxy(vmiUid: string, port?: number): string;
}

/** {@link Sockets} in the given directories. */
export function sockets(directories: Directories): Sockets {
  const { share, sockets, private: ours, libvirt, pods, migrationProxy } = directories;
  const podVolume = (podUid: string, volume: string): string =>
    `${pods}/${part(podUid)}/volumes/kubernetes.io~empty-dir/${part(volume)}`;
  return {
    launcher: `${sockets}/launcher-sock`,
    launcherInit: `${sockets}/launcher-init-sock`,
    launcherUnresponsive: `${sockets}/launcher-unresponsive`,
    notify: `${share}/domain-notify.sock`,
    notifyPipe: `${share}/domain-notify-pipe.sock`,
    libvirt: `${libvirt}/virtqemud-sock`,
    iommufd: `${share}/iommufd.sock`,
    migrationHook: `${share}/migration-hook-socket`,
    podVolume,
    launcherOfPod: (podUid) => `${podVolume(podUid, "sockets")}/launcher-sock`,
    containerDiskOfPod: (podUid, index) =>
      `${podVolume(podUid, "container-disks")}/disk_${count(index)}.sock`,
    kernelBootOfPod: (podUid) => `${podVolume(podUid, "container-disks")}/kernel-boot.sock`,
    hotplugOfPod: (podUid) => `${podVolume(podUid, "hotplug-disks")}/hp.sock`,
    serial: (vmiUid, port = 0) => `${ours}/${part(vmiUid)}/virt-serial${count(port)}`,
    vnc: (vmiUid) => `${ours}/${part(vmiUid)}/virt-vnc`,
    usbRedirect: (vmiUid, slot) => `${ours}/${part(vmiUid)}/virt-usbredir-${count(slot)}`,
    migrationProxy: (vmiUid, port) => {
      const key = port === undefined ? part(vmiUid) : `${part(vmiUid)}-${count(port)}`;
      return `${migrationProxy}/${key}-source.sock`;
    },
  };
}

function part(text: string): string {
  const escapes = text === "" || text === "." || text === ".." || /[/\0]/.test(text);
  if (!escapes) return text;
  const shown = JSON.stringify(text.slice(0, 80));
  throw new ApiError("API_NAME_INVALID", `${shown} cannot be part of a path; give a UID or a name`);
}

function count(value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new ApiError("API_NAME_INVALID", `${value} cannot be part of a path; give a whole number`);
}
