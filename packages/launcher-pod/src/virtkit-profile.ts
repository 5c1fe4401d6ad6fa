import { names } from "@virtkit/api/names";
import { type Launch, type LauncherProfile, launcherDirectories } from "./launcher-profile.ts";

const own = names();

/**
 * The profile of Virtkit's own launcher, the default. One process is launcher and monitor at once;
 * libvirtd runs in session mode and logs through it. The finalizer keeps a Pod until it is proven
 * that its guest has ended: a Pod object that is gone says nothing about QEMU.
 */
export const virtkitLauncherProfile: LauncherProfile = {
  image: "virtkit/launcher:0.0.0",
  userId: 107,
  directories: launcherDirectories(own),
  programs: {
    containerDisk: "/usr/bin/container-disk",
    virtiofsd: "/usr/libexec/virtiofsd",
    consoleTail: "/usr/bin/virt-tail",
    probe: "virt-probe",
    freezer: "/usr/bin/virt-freezer",
  },
  processes: [
    { name: "virtkit-launcher", memory: "80Mi" },
    { name: "libvirtd", memory: "40Mi" },
    { name: "qemu", memory: "30Mi" },
  ],
  finalizers: [own.own("proof-of-end")],
  // No Pod knows its UID before it exists; a grant to run the guest names it.
  environment: [{ name: "POD_UID", valueFrom: { fieldRef: { fieldPath: "metadata.uid" } } }],
  command,
};

function command(launch: Launch): string[] {
  if (launch.temporary) return ["/bin/true"];
  const line = [
    "/usr/bin/virtkit-launcher",
    "--name",
    launch.name,
    "--namespace",
    launch.namespace,
    "--uid",
    launch.uid,
    "--pod-uid",
    "$(POD_UID)",
    "--grace-period-seconds",
    `${launch.gracePeriodSeconds}`,
    "--hook-sidecars",
    `${launch.hookSidecars}`,
    "--firmware-dir",
    launch.firmwareDirectory,
    "--disk-memory-limit",
    `${launch.diskMemoryLimit}`,
    "--hypervisor",
    launch.hypervisor,
  ];
  if (launch.allowEmulation) line.push("--allow-emulation");
  if (launch.keepAfterFailure) line.push("--keep-after-failure");
  if (launch.libvirtLogFilters !== undefined) {
    line.push("--libvirt-log-filters", launch.libvirtLogFilters);
  }
  return line;
}
