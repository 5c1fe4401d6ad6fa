/** The root directories of a node agent and of its launchers. No path ends in a slash. */
export interface RootDirectories {
  /** Shared by a launcher and its node agent. */
  readonly share: string;
  /** State that only one of them uses. */
  readonly private: string;
  /** Overlays of ephemeral disks. */
  readonly ephemeralDisks: string;
  /** Sockets of hook sidecars. */
  readonly hooks: string;
  /** Sockets of plugins. */
  readonly plugins: string;
  /** Container disks that are mounted as image volumes. */
  readonly imageVolumes: string;
  /** Kernels and initrds that are mounted as image volumes. */
  readonly kernelBoot: string;
  /** libvirt's own directory in a launcher. */
  readonly libvirt: string;
  readonly kubelet: string;
  /** The kubelet's Pods, as the node agent sees them. */
  readonly pods: string;
}

/** {@link RootDirectories} and the directories below them. */
export interface Directories extends RootDirectories {
  readonly sockets: string;
  readonly containerDisks: string;
  readonly hotplugDisks: string;
  readonly migrationProxy: string;
  /** Where a launcher's QEMU finds the certificate of its migration. */
  readonly migrationTls: string;
  readonly daemons: string;
  readonly vmiDisks: string;
  readonly ghostRecords: string;
  readonly networkInfoCache: string;
  readonly containerDiskMounts: string;
  /** Where the claim with a guest's state describes its content; part of handing over state. */
  readonly stateMeta: string;
  readonly hotplugMounts: string;
  readonly cloudInit: string;
  readonly emptyDisks: string;
  readonly kubeletPods: string;
  readonly devicePlugins: string;
}

const defaults: RootDirectories = {
  share: "/var/run/kubevirt",
  private: "/var/run/kubevirt-private",
  ephemeralDisks: "/var/run/kubevirt-ephemeral-disks",
  hooks: "/var/run/kubevirt-hooks",
  plugins: "/var/run/kubevirt-plugin",
  imageVolumes: "/var/run/kubevirt-image-volume",
  kernelBoot: "/var/run/kubevirt-kernel-boot",
  libvirt: "/var/run/libvirt",
  kubelet: "/var/lib/kubelet",
  pods: "/pods",
};

/** All directories, with some roots moved. */
export function directories(roots: Partial<RootDirectories>): Directories {
  const all = { ...defaults, ...roots };
  return {
    ...all,
    sockets: `${all.share}/sockets`,
    containerDisks: `${all.share}/container-disks`,
    hotplugDisks: `${all.share}/hotplug-disks`,
    migrationProxy: `${all.share}/migrationproxy`,
    migrationTls: `${all.private}/migration-tls`,
    daemons: `${all.share}/daemons`,
    vmiDisks: `${all.private}/vmi-disks`,
    ghostRecords: `${all.private}/ghost-records`,
    networkInfoCache: `${all.private}/network-info-cache`,
    containerDiskMounts: `${all.private}/container-disk-mount-state`,
    hotplugMounts: `${all.private}/hotplug-volume-mount-state`,
    // `/var/run` is a link to `/run`; KubeVirt uses the latter here.
    stateMeta: `${all.private.replace(/^\/var\/run\//, "/run/")}/backend-storage-meta`,
    cloudInit: `${all.ephemeralDisks}/cloud-init-data`,
    emptyDisks: `${all.libvirt}/empty-disks`,
    kubeletPods: `${all.kubelet}/pods`,
    devicePlugins: `${all.kubelet}/device-plugins`,
  };
}
