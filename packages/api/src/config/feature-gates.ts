/**
 * The maturity of a feature, which decides what its gate does.
 *
 * `Alpha` and `Deprecated` are off unless enabled, `Beta` is on unless disabled, `General Availability` is always
 * on. `Discontinued` features no longer exist, although their gates can still be named.
 */
export type FeatureGateState =
  | "Alpha"
  | "Beta"
  | "General Availability"
  | "Deprecated"
  | "Discontinued";

/** Every feature gate of KubeVirt v1.9.0. */
export const featureGates = {
  AlignCPUs: "Alpha",
  AutoResourceLimitsGate: "General Availability",
  BochsDisplayForEFIGuests: "General Availability",
  CPUManager: "Alpha",
  CPUNodeDiscovery: "General Availability",
  ClusterProfiler: "General Availability",
  CommonInstancetypesDeploymentGate: "General Availability",
  ConfigurableHypervisor: "Alpha",
  ContainerPathVolumes: "Alpha",
  CrossArchitectureVirtualization: "Alpha",
  DecentralizedLiveMigration: "Alpha",
  DeclarativeHotplugVolumes: "Beta",
  DisableCustomSELinuxPolicy: "General Availability",
  DisableMDEVConfiguration: "Deprecated",
  DockerSELinuxMCSWorkaround: "Deprecated",
  DownwardMetrics: "Alpha",
  DynamicPodInterfaceNaming: "General Availability",
  EnableVirtioFsConfigVolumes: "General Availability",
  EnableVirtioFsStorageVolumes: "Alpha",
  ExpandDisks: "General Availability",
  ExperimentalIgnitionSupport: "Alpha",
  ExperimentalVirtiofsSupport: "Discontinued",
  ExternalNetResourceInjection: "Beta",
  FirmwareAutoSelection: "Alpha",
  GPU: "General Availability",
  GPUsWithDRA: "Beta",
  GraceIOVirtualization: "Alpha",
  HostDevices: "Alpha",
  HostDevicesWithDRA: "Beta",
  HostDisk: "Alpha",
  HotplugNICs: "General Availability",
  HotplugVolumes: "Deprecated",
  HypervStrictCheck: "Alpha",
  IOMMUFD: "Alpha",
  ImageVolume: "Beta",
  IncrementalBackup: "Alpha",
  InstancetypeReferencePolicy: "General Availability",
  KubevirtSeccompProfile: "Beta",
  LibvirtHooksServerAndClient: "Beta",
  LiveMigration: "General Availability",
  LiveUpdateNADRef: "General Availability",
  Macvtap: "Discontinued",
  MigrationPriorityQueue: "General Availability",
  MigrationStallDetection: "Alpha",
  MultiArchitecture: "Deprecated",
  NUMA: "General Availability",
  NetworkBindingPlugins: "General Availability",
  NetworkDevicesWithDRA: "Alpha",
  NodeRestriction: "Beta",
  NonRoot: "General Availability",
  OCIExport: "Alpha",
  ObjectGraph: "Alpha",
  OptOutRoleAggregation: "Beta",
  PCINUMAAwareTopology: "Alpha",
  PSA: "General Availability",
  PanicDevices: "General Availability",
  Passt: "Discontinued",
  PasstBinding: "Beta",
  PasstIPStackMigration: "Discontinued",
  PersistentReservation: "General Availability",
  Plugins: "Alpha",
  PodSecondaryInterfaceNamingUpgrade: "Beta",
  PortRangesSpec: "Alpha",
  RebootPolicy: "Beta",
  ReservedOverheadMemlock: "Alpha",
  Root: "Alpha",
  SRIOVLiveMigration: "General Availability",
  SecureExecution: "General Availability",
  Sidecar: "Alpha",
  Snapshot: "Beta",
  Template: "Beta",
  UtilityVolumes: "Alpha",
  VGPULiveMigration: "Alpha",
  VMExport: "General Availability",
  VMLiveUpdateFeatures: "General Availability",
  VMPersistentState: "General Availability",
  VMStatsCollector: "Alpha",
  VSOCK: "Alpha",
  VideoConfig: "General Availability",
  VmiMemoryOverheadReport: "Beta",
  VolumeMigration: "General Availability",
  VolumesUpdateStrategy: "General Availability",
  WorkloadEncryptionSEV: "Beta",
  WorkloadEncryptionTDX: "Alpha",
} as const;

/** The name of a feature gate. */
export type FeatureGate = keyof typeof featureGates;

/** Which gates a configuration names. */
export interface GateSettings {
  readonly featureGates?: readonly string[];
  readonly disabledFeatureGates?: readonly string[];
}

/** Whether this is the name of a known gate. */
export function isFeatureGate(name: string): name is FeatureGate {
  return Object.hasOwn(featureGates, name);
}

/**
 * Whether a gate is on: general availability first, then enabled by name, then disabled by name, then beta. A
 * gate in both lists is on.
 */
export function isGateOn(name: FeatureGate, settings: GateSettings): boolean {
  const state: FeatureGateState | undefined = isFeatureGate(name) ? featureGates[name] : undefined;
  if (state === undefined) return false;
  if (state === "General Availability") return true;
  if (settings.featureGates?.includes(name)) return true;
  if (settings.disabledFeatureGates?.includes(name)) return false;
  return state === "Beta";
}
