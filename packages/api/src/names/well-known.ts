/** The domain that is part of every name in these tables, and that a platform may replace. */
export const kubevirtDomain = "kubevirt.io";

/** The API group of CDI, which imports disks. CDI is another project, so no platform changes this name. */
export const cdiGroup = "cdi.kubevirt.io";

/** API groups. */
export const groups = {
  core: "kubevirt.io",
  subresources: "subresources.kubevirt.io",
  instancetype: "instancetype.kubevirt.io",
  migrations: "migrations.kubevirt.io",
  snapshot: "snapshot.kubevirt.io",
  clone: "clone.kubevirt.io",
  export: "export.kubevirt.io",
  pool: "pool.kubevirt.io",
  backup: "backup.kubevirt.io",
  plugin: "plugin.kubevirt.io",
} as const;

/** Labels of objects. Those that end in `/` are prefixes. */
export const labels = {
  /** The role of a Pod: `virt-launcher`, `hotplug-disk`, ... */
  app: "kubevirt.io",
  /** UID of the VMI that a Pod was created for. */
  createdBy: "kubevirt.io/created-by",
  /** Node on which a VMI runs. */
  nodeName: "kubevirt.io/nodeName",
  /** Node that a VMI moves to. */
  migrationTargetNodeName: "kubevirt.io/migrationTargetNodeName",
  /** UID of the migration that a Pod was created for. */
  migrationJobUid: "kubevirt.io/migrationJobUID",
  migrationName: "kubevirt.io/migrationName",
  /** VMI that a migration moves. */
  vmiName: "kubevirt.io/vmi-name",
  outdatedLauncherImage: "kubevirt.io/outdatedLauncherImage",
  /** On the ConfigMap that lists what an installation consists of. */
  installStrategy: "kubevirt.io/install-strategy",
  vm: "kubevirt.io/vm",
  vmName: "vm.kubevirt.io/name",
  vmiId: "vmi.kubevirt.io/id",
  podCpuLimits: "kubevirt.io/vmi-pod-cpu-resource-limits",
  podMemoryRequests: "kubevirt.io/vmi-pod-memory-resource-requests",
  memoryHotplugOverheadRatio: "kubevirt.io/memory-hotplug-overhead-ratio",
  autoMemoryLimitsRatio: "alpha.kubevirt.io/auto-memory-limits-ratio",
  volumeUpdateMigration: "kubevirt.io/volume-update-migration",
  /** Prefix for the UID of a claim that is shared with persistent reservations. */
  persistentReservation: "pr.kubevirt.io/",
  allowAccessClusterServices: "np.kubevirt.io/allow-access-cluster-services",
  defaultInstancetype: "instancetype.kubevirt.io/default-instancetype",
  defaultInstancetypeKind: "instancetype.kubevirt.io/default-instancetype-kind",
  defaultPreference: "instancetype.kubevirt.io/default-preference",
  defaultPreferenceKind: "instancetype.kubevirt.io/default-preference-kind",
  revisionObjectGeneration: "instancetype.kubevirt.io/object-generation",
  revisionObjectKind: "instancetype.kubevirt.io/object-kind",
  revisionObjectName: "instancetype.kubevirt.io/object-name",
  revisionObjectUid: "instancetype.kubevirt.io/object-uid",
  revisionObjectVersion: "instancetype.kubevirt.io/object-version",
  /** On the VMs of a pool and their VMIs: which spec of the pool they were made from. */
  poolRevision: "kubevirt.io/vm-pool-revision-name",
  templateArchitecture: "template.kubevirt.io/architecture",
} as const;

/** Labels of nodes. Those that end in `/` or `-` are prefixes. */
export const nodeLabels = {
  schedulable: "kubevirt.io/schedulable",
  cpuManager: "kubevirt.io/cpumanager",
  realtime: "kubevirt.io/realtime",
  sev: "kubevirt.io/sev",
  sevEs: "kubevirt.io/sev-es",
  sevSnp: "kubevirt.io/sev-snp",
  tdx: "kubevirt.io/tdx",
  secureExecution: "kubevirt.io/s390-pv",
  ksmEnabled: "kubevirt.io/ksm-enabled",
  vmArchitecture: "kubevirt.io/vm-arch-",
  cpuFeature: "cpu-feature.node.kubevirt.io/",
  cpuModel: "cpu-model.node.kubevirt.io/",
  cpuModelMigration: "cpu-model-migration.node.kubevirt.io/",
  cpuTimer: "cpu-timer.node.kubevirt.io/",
  cpuVendor: "cpu-vendor.node.kubevirt.io/",
  hyperv: "hyperv.node.kubevirt.io/",
  machineType: "machine-type.node.kubevirt.io/",
  hostModelCpu: "host-model-cpu.node.kubevirt.io/",
  hostModelRequiredFeatures: "host-model-required-features.node.kubevirt.io/",
  obsoleteHostModel: "node-labeller.kubevirt.io/obsolete-host-model",
  tscFrequency: "scheduling.node.kubevirt.io/tsc-frequency-",
} as const;

/** Annotations of objects. */
export const annotations = {
  /** Name of the VMI that a launcher runs. */
  domain: "kubevirt.io/domain",
  migrationJobName: "kubevirt.io/migrationJobName",
  evacuationMigration: "kubevirt.io/evacuationMigration",
  workloadUpdateMigration: "kubevirt.io/workloadUpdateMigration",
  migrationTransportUnix: "kubevirt.io/migrationTransportUnix",
  migrationTargetReadyTimestamp: "kubevirt.io/migration-target-ready-timestamp",
  migrationUnschedulablePodTimeout: "kubevirt.io/migrationUnschedulablePodTimeoutSeconds",
  migrationPendingPodTimeout: "kubevirt.io/migrationPendingPodTimeoutSeconds",
  migrationUtilityVolumesTimeout: "kubevirt.io/migrationUtilityVolumesTimeoutSeconds",
  createMigrationTarget: "kubevirt.io/create-migration-target",
  evictionSource: "kubevirt.io/eviction-source",
  restoreRunStrategy: "kubevirt.io/restore-run-strategy",
  networkInfo: "kubevirt.io/network-info",
  allowPodBridgeNetworkLiveMigration: "kubevirt.io/allow-pod-bridge-network-live-migration",
  ignitionData: "kubevirt.io/ignitiondata",
  hookSidecars: "hooks.kubevirt.io/hookSidecars",
  memfd: "kubevirt.io/memfd",
  placePciDevicesOnRootComplex: "kubevirt.io/placePCIDevicesOnRootComplex",
  disablePciHole64: "kubevirt.io/disablePCIHole64",
  pciTopologyVersion: "kubevirt.io/pci-topology-version",
  pciInterfaceSlotCount: "kubevirt.io/pci-interface-slot-count",
  ephemeralProvisioning: "kubevirt.io/ephemeral-provisioning",
  memoryOverheadBytes: "kubevirt.io/memory-overhead-bytes",
  vmGeneration: "kubevirt.io/vm-generation",
  freePageReportingDisabled: "kubevirt.io/free-page-reporting-disabled",
  immediateDataVolumeCreation: "kubevirt.io/immediate-data-volume-creation",
  keepLauncherAfterFailure: "kubevirt.io/keep-launcher-alive-after-failure",
  libvirtLogFilters: "kubevirt.io/libvirt-log-filters",
  pauseGuestAgentProbes: "kubevirt.io/pause-guest-agent-probes",
  latestObservedApiVersion: "kubevirt.io/latest-observed-api-version",
  storageObservedApiVersion: "kubevirt.io/storage-observed-api-version",
  emulatorThreadCompleteToEvenParity: "alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity",
  vgaDisplayForEfiGuests: "kubevirt.io/vga-display-efi-x86",
  qgsSocketPath: "kubevirt.io/qgs-socket-path",
  memoryDump: "kubevirt.io/memory-dump",
  skipBackupHooks: "kubevirt.io/skip-backup-hooks",
  nonRoot: "kubevirt.io/nonroot",
  instancetype: "kubevirt.io/instancetype-name",
  clusterInstancetype: "kubevirt.io/cluster-instancetype-name",
  preference: "kubevirt.io/preference-name",
  clusterPreference: "kubevirt.io/cluster-preference-name",
  /** With this, functional tests break a launcher on purpose. */
  testFailFast: "kubevirt.io/func-test-virt-launcher-fail-fast",
  /** With this, they revert a change that has started a migration. */
  testMigrationAbortion: "kubevirt.io/testWorkloadUpdateMigrationAbortion",
  testTargetImage: "kubevirt.io/func-test-migration-target-image-override",
  testIgnoreBackOff: "kubevirt.io/func-test-ignore-migration-backoff",
  /** On nodes: the last heartbeat of their agent. */
  heartbeat: "kubevirt.io/heartbeat",
  skipNodeLabels: "node-labeller.kubevirt.io/skip-node",
  ksmHandlerManaged: "kubevirt.io/ksm-handler-managed",
  ksmPagesBoost: "kubevirt.io/ksm-pages-boost-override",
  ksmPagesDecay: "kubevirt.io/ksm-pages-decay-override",
  ksmPagesMin: "kubevirt.io/ksm-pages-min-override",
  ksmPagesMax: "kubevirt.io/ksm-pages-max-override",
  ksmPagesInit: "kubevirt.io/ksm-pages-init-override",
  ksmSleepMsBaseline: "kubevirt.io/ksm-sleep-ms-baseline-override",
  ksmFreePercent: "kubevirt.io/ksm-free-percent-override",
} as const;

/** Finalizers. */
export const finalizers = {
  /** On a VMI until its Pods are gone. */
  vmi: "kubevirt.io/foregroundDeleteVirtualMachine",
  /** On a VM until its VMI is gone, and on the VMI until the VM has seen its end. */
  vm: "kubevirt.io/virtualMachineControllerFinalize",
  migration: "kubevirt.io/migrationJobFinalize",
  pool: "pool.kubevirt.io/finalizer",
  operatorComponent: "kubevirt.io/virtOperatorFinalizer",
  kubevirt: "kubevirt.io/foregroundDeleteKubeVirt",
} as const;

/** Conditions of Pods. */
export const podConditions = {
  unpaused: "kubevirt.io/virtual-machine-unpaused",
} as const;

/** Taints of nodes. */
export const taints = {
  /** On nodes that VMIs must leave. */
  drain: "kubevirt.io/drain",
} as const;

/** Devices that node agents offer to Pods, as resource names. `root` is the prefix for any other device. */
export const devices = {
  root: "devices.kubevirt.io/",
  kvm: "devices.kubevirt.io/kvm",
  tun: "devices.kubevirt.io/tun",
  vhostNet: "devices.kubevirt.io/vhost-net",
  vhostVsock: "devices.kubevirt.io/vhost-vsock",
  persistentReservation: "devices.kubevirt.io/pr-helper",
  sev: "devices.kubevirt.io/sev",
  tdx: "devices.kubevirt.io/tdx",
  iommufd: "devices.kubevirt.io/iommufd",
} as const;
