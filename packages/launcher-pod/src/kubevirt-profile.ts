import type { FeatureGate } from "@virtkit/api/config";
import { names } from "@virtkit/api/names";
import {
  type Launch,
  type LauncherDirectories,
  type LauncherProfile,
  launcherDirectories,
  launcherPrograms,
} from "./launcher-profile.ts";

/** What an installation of KubeVirt can change about its launcher. */
export interface KubevirtProfileOptions {
  /** For example `quay.io/kubevirt/virt-launcher:v1.9.0`. */
  readonly image: string;
  readonly imagePullSecret?: string;
  readonly hookSidecarImage?: string;
  /**
   * How long the monitor waits for QEMU to start; 240 by default. KubeVirt adds up to 119 seconds at random, so
   * that many launchers do not give up at once: add that here if you want it.
   */
  readonly qemuTimeoutSeconds?: number;
}

/**
 * The profile of KubeVirt v1.9's own virt-launcher: Pods rendered with it equal those that
 * KubeVirt's controller creates.
 */
export function kubevirtLauncherProfile(options: KubevirtProfileOptions): LauncherProfile {
  const { image, imagePullSecret, hookSidecarImage, qemuTimeoutSeconds = 240 } = options;
  const kubevirt = names();
  const directories = {
    ...launcherDirectories(kubevirt),
    // As in virt-controller's default, including the slash.
    hotplugDisks: `${kubevirt.directories.hotplugDisks}/`,
  };
  return {
    image,
    ...(imagePullSecret ? { imagePullSecret } : {}),
    ...(hookSidecarImage ? { hookSidecarImage } : {}),
    userId: 107,
    directories,
    programs: launcherPrograms,
    processes: [
      { name: "virt-launcher-monitor", memory: "25Mi" },
      { name: "virt-launcher", memory: "100Mi" },
      { name: "virtlogd", memory: "25Mi" },
      { name: "virtqemud", memory: "40Mi" },
      { name: "qemu", memory: "30Mi" },
    ],
    finalizers: [],
    command: (launch) => command(launch, directories, qemuTimeoutSeconds),
  };
}

/** Flags that a feature gate enables, in KubeVirt's order. */
const gatedFlags: readonly (readonly [gate: FeatureGate, flag: string])[] = [
  ["ImageVolume", "--image-volume"],
  ["LibvirtHooksServerAndClient", "--libvirt-hook-server-and-client"],
  ["PodSecondaryInterfaceNamingUpgrade", "--upgrade-ordinal-ifaces"],
  ["VGPULiveMigration", "--vgpu-dedicated-hook"],
  ["VMStatsCollector", "--vm-stats-collector"],
  ["FirmwareAutoSelection", "--firmware-auto-selection"],
];

function command(
  launch: Launch,
  directories: LauncherDirectories,
  qemuTimeoutSeconds: number,
): string[] {
  const line = launch.temporary
    ? ["/bin/bash", "-c", "echo", "bound PVCs"]
    : guestCommand(launch, directories, qemuTimeoutSeconds);
  if (launch.allowEmulation) line.push("--allow-emulation");
  if (launch.gate("CrossArchitectureVirtualization")) line.push("--allow-cross-arch-emulation");
  if (launch.keepAfterFailure) line.push("--keep-after-failure");
  if (launch.simulateCrash) line.push("--simulate-crash");
  return line;
}

function guestCommand(
  launch: Launch,
  directories: LauncherDirectories,
  qemuTimeoutSeconds: number,
): string[] {
  const line = [
    "/usr/bin/virt-launcher-monitor",
    "--qemu-timeout",
    `${qemuTimeoutSeconds}s`,
    "--name",
    launch.name,
    "--uid",
    launch.uid,
    "--namespace",
    launch.namespace,
    "--kubevirt-share-dir",
    directories.share,
    "--ephemeral-disk-dir",
    directories.ephemeralDisks,
    "--container-disk-dir",
    directories.containerDisks,
    "--grace-period-seconds",
    `${launch.gracePeriodSeconds}`,
    "--hook-sidecars",
    `${launch.hookSidecars}`,
    "--ovmf-path",
    launch.firmwareDirectory,
    "--disk-memory-limit",
    `${launch.diskMemoryLimit}`,
    "--hypervisor",
    launch.hypervisor,
  ];
  if (launch.nonRoot) line.push("--run-as-nonroot");
  for (const [gate, flag] of gatedFlags) if (launch.gate(gate)) line.push(flag);
  if (launch.libvirtLogFilters !== undefined) {
    line.push("--libvirt-log-filters", launch.libvirtLogFilters);
  }
  return line;
}
