import { type Names, type NamesOptions, names } from "@virtkit/api/names";
import {
  type Launch,
  type LauncherProfile,
  launcherDirectories,
  launcherPrograms,
} from "./launcher-profile.ts";

/** What a platform can change about Virtkit's launcher. */
export interface VirtkitProfileOptions {
  /** Default: the image of this release. */
  readonly image?: string;
  /** The platform's names. Default: KubeVirt's. */
  readonly names?: Names;
  /** See {@link LauncherProfile.readOnlyRoot}. Default false. */
  readonly readOnlyRoot?: boolean;
}

const kubevirtNames = names();

/**
 * The profile of Virtkit's own launcher, with the names of the cluster's configuration. It is the default. One
 * process is both launcher and monitor; libvirtd runs in session mode and logs through it. The finalizer keeps a
 * Pod until its guest is proven to have ended, because a missing Pod object says nothing about QEMU.
 */
export function virtkitLauncherProfile({
  image = "virtkit/launcher:0.0.0",
  names: own = kubevirtNames,
  readOnlyRoot = false,
}: VirtkitProfileOptions = {}): LauncherProfile {
  return {
    image,
    userId: 107,
    readOnlyRoot,
    directories: launcherDirectories(own),
    programs: launcherPrograms,
    processes: [
      { name: "virtkit-launcher", memory: "80Mi" },
      { name: "libvirtd", memory: "40Mi" },
      { name: "qemu", memory: "30Mi" },
    ],
    finalizers: [own.own("proof-of-end")],
    // A Pod does not know its UID before it exists; a run grant names it.
    environment: [{ name: "POD_UID", valueFrom: { fieldRef: { fieldPath: "metadata.uid" } } }],
    command: (launch) => command(launch, own.options),
  };
}

function command(launch: Launch, names: NamesOptions): string[] {
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
  if (Object.keys(names).length > 0) line.push("--names", literal(JSON.stringify(names)));
  return line;
}

/** The kubelet replaces `$(NAME)` in a command line, and reads `$$` as `$`. */
function literal(text: string): string {
  return text.replaceAll("$", () => "$$");
}
