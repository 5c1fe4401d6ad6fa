import type { FeatureGate } from "@virtkit/api/config";
import type { Names } from "@virtkit/api/names";
import type { EnvVar } from "./pod/container.ts";

/** The launcher's directories, as paths inside its containers. */
export interface LauncherDirectories {
  /** Shared with the node agent. */
  readonly share: string;
  /** Only for the launcher and its helpers. */
  readonly private: string;
  /** Command sockets, for the node agent. */
  readonly sockets: string;
  readonly ephemeralDisks: string;
  readonly containerDisks: string;
  readonly hotplugDisks: string;
  /** containerDisks that are image volumes. */
  readonly imageVolumes: string;
  readonly kernelBoot: string;
  /** Sockets of hook sidecars. */
  readonly hooks: string;
  /** Sockets of plugins. */
  readonly plugins: string;
  readonly libvirt: string;
  readonly virtiofs: string;
  /** Where the claim with a guest's state describes its content. */
  readonly stateMeta: string;
  /** The downward API file with the network devices. */
  readonly networkInfo: string;
}

/** Programs in the launcher's image that helper containers, probes and backup tools start. */
export interface LauncherPrograms {
  readonly containerDisk: string;
  readonly virtiofsd: string;
  readonly consoleTail: string;
  readonly probe: string;
  readonly freezer: string;
}

/** The programs under KubeVirt's names for them, which backup tools and probes know. */
export const launcherPrograms: LauncherPrograms = {
  containerDisk: "/usr/bin/container-disk",
  virtiofsd: "/usr/libexec/virtiofsd",
  consoleTail: "/usr/bin/virt-tail",
  probe: "virt-probe",
  freezer: "/usr/bin/virt-freezer",
};

/** A process that runs beside the guest in the compute container, and the memory it needs. */
export interface LauncherProcess {
  readonly name: string;
  readonly memory: string;
}

/** What a launcher's command line can contain. */
export interface Launch {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** How long the guest has to shut down after a stop signal. */
  readonly gracePeriodSeconds: number;
  readonly hookSidecars: number;
  readonly firmwareDirectory: string;
  /** Memory that inspecting a disk image may use, in bytes. */
  readonly diskMemoryLimit: bigint;
  readonly hypervisor: string;
  readonly nonRoot: boolean;
  readonly allowEmulation: boolean;
  readonly keepAfterFailure: boolean;
  readonly simulateCrash: boolean;
  readonly libvirtLogFilters: string | undefined;
  /** The Pod only makes its volumes bind; no guest runs in it. */
  readonly temporary: boolean;
  /** Whether the cluster has switched a feature on. */
  gate(name: FeatureGate): boolean;
}

/**
 * Everything that is specific to one launcher. To use another launcher, write another profile, not another
 * renderer.
 */
export interface LauncherProfile {
  readonly image: string;
  /** Pull secret for the cluster's own images. */
  readonly imagePullSecret?: string;
  /** Image of a hook sidecar that does not name one. */
  readonly hookSidecarImage?: string;
  /** The unprivileged user and group. */
  readonly userId: number;
  readonly directories: LauncherDirectories;
  readonly programs: LauncherPrograms;
  readonly processes: readonly LauncherProcess[];
  /**
   * Whether unprivileged launchers cannot write to their image, only to the volumes of the Pod, of which one is then `/tmp`.
   * Default false, as in KubeVirt.
   */
  readonly readOnlyRoot?: boolean;
  /** Finalizers of every launcher Pod. */
  readonly finalizers: readonly string[];
  /** Additional environment of the compute container; the command line may refer to it as `$(NAME)`. */
  readonly environment?: readonly EnvVar[];
  /** Command line of the compute container. */
  command(launch: Launch): string[];
}

/** The launcher's part of the platform's directories. */
export function launcherDirectories({ directories }: Names): LauncherDirectories {
  return {
    share: directories.share,
    private: directories.private,
    sockets: directories.sockets,
    ephemeralDisks: directories.ephemeralDisks,
    containerDisks: directories.containerDisks,
    hotplugDisks: directories.hotplugDisks,
    imageVolumes: directories.imageVolumes,
    kernelBoot: directories.kernelBoot,
    hooks: directories.hooks,
    plugins: directories.plugins,
    libvirt: directories.libvirt,
    virtiofs: `${directories.share}/virtiofs-containers`,
    stateMeta: directories.stateMeta,
    networkInfo: "/etc/podinfo",
  };
}
