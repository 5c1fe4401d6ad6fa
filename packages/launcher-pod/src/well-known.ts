/** Labels that this package writes or selects by. */
export const labels = {
  app: "kubevirt.io",
  createdBy: "kubevirt.io/created-by",
  vmName: "vm.kubevirt.io/name",
  vmiId: "vmi.kubevirt.io/id",
  istioInject: "sidecar.istio.io/inject",
  migrationName: "kubevirt.io/migrationName",
  migrationJob: "kubevirt.io/migrationJobUID",
  stateFor: "persistent-state-for",
  reservationPrefix: "pr.kubevirt.io/",
  memoryLimitRatio: "alpha.kubevirt.io/auto-memory-limits-ratio",
  hostname: "kubernetes.io/hostname",
  architecture: "kubernetes.io/arch",
} as const;

/** Labels of nodes that a guest may need. Those that end in a slash or dash take a name. */
export const nodeLabels = {
  schedulable: "kubevirt.io/schedulable",
  cpuManager: "kubevirt.io/cpumanager",
  realtime: "kubevirt.io/realtime",
  sev: "kubevirt.io/sev",
  sevEs: "kubevirt.io/sev-es",
  sevSnp: "kubevirt.io/sev-snp",
  tdx: "kubevirt.io/tdx",
  secureExecution: "kubevirt.io/s390-pv",
  guestArchitecture: "kubevirt.io/vm-arch-",
  cpuModel: "cpu-model.node.kubevirt.io/",
  cpuFeature: "cpu-feature.node.kubevirt.io/",
  cpuVendor: "cpu-vendor.node.kubevirt.io/",
  hyperv: "hyperv.node.kubevirt.io/",
  machineType: "machine-type.node.kubevirt.io/",
  tscFrequency: "scheduling.node.kubevirt.io/tsc-frequency-",
  obsoleteHostModel: "node-labeller.kubevirt.io/obsolete-host-model",
  hostModelCpu: "host-model-cpu.node.kubevirt.io/",
  hostModelFeature: "host-model-required-features.node.kubevirt.io/",
  hostModelMigration: "cpu-model-migration.node.kubevirt.io/",
} as const;

/** Annotations that this package reads from a VMI or writes to a Pod. */
export const annotations = {
  domain: "kubevirt.io/domain",
  nonRoot: "kubevirt.io/nonroot",
  memoryOverhead: "kubevirt.io/memory-overhead-bytes",
  unixMigration: "kubevirt.io/migrationTransportUnix",
  temporary: "kubevirt.io/ephemeral-provisioning",
  libvirtLogFilters: "kubevirt.io/libvirt-log-filters",
  keepAfterFailure: "kubevirt.io/keep-launcher-alive-after-failure",
  failFast: "kubevirt.io/func-test-virt-launcher-fail-fast",
  evenParity: "alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity",
  hookSidecars: "hooks.kubevirt.io/hookSidecars",
  migrationJobName: "kubevirt.io/migrationJobName",
  targetImageOverride: "kubevirt.io/func-test-migration-target-image-override",
  networkInfo: "kubevirt.io/network-info",
  defaultContainer: "kubectl.kubernetes.io/default-container",
  requestEvictOnly: "descheduler.alpha.kubernetes.io/request-evict-only",
  istioInject: "sidecar.istio.io/inject",
  networkResource: "k8s.v1.cni.cncf.io/resourceName",
  skipBackupHooks: "kubevirt.io/skip-backup-hooks",
} as const;

/** Prefix of the device plug-in resources of the node agent. */
export const deviceResource = "devices.kubevirt.io/";
