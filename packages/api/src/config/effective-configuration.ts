import type {
  ArchSpecificConfiguration,
  DeveloperConfiguration,
  DiskVerification,
  EvictionStrategy,
  HypervisorConfiguration,
  KubeVirtConfiguration,
  LiveUpdateConfiguration,
  LogVerbosity,
  MigrationConfiguration,
  NetworkConfiguration,
  PullPolicy,
  QuantityInput,
  ReloadableComponentConfiguration,
  SMBiosConfiguration,
  VMRolloutStrategy,
} from "../schema/index.ts";

/** `T` with some fields always present. */
type With<T, K extends keyof T> = T & { [P in K]-?: NonNullable<T[P]> };

/** The configuration of a cluster including the built-in defaults. */
export interface EffectiveConfiguration extends KubeVirtConfiguration {
  apiConfiguration: ReloadableComponentConfiguration;
  architectureConfiguration: {
    amd64: ArchSpecificConfiguration;
    arm64: ArchSpecificConfiguration;
    s390x: ArchSpecificConfiguration;
    ppc64le?: ArchSpecificConfiguration;
    /** Empty if nobody has set it. */
    defaultArchitecture: string;
  };
  controllerConfiguration: ReloadableComponentConfiguration;
  cpuRequest: QuantityInput;
  developerConfiguration: With<
    DeveloperConfiguration,
    | "cpuAllocationRatio"
    | "memoryOvercommit"
    | "minimumReservePVCBytes"
    | "pvcTolerateLessSpaceUpToPercent"
  > & { diskVerification: Partial<DiskVerification>; logVerbosity: LogVerbosity };
  evictionStrategy: EvictionStrategy;
  handlerConfiguration: ReloadableComponentConfiguration;
  hypervisors: HypervisorConfiguration[];
  imagePullPolicy: PullPolicy;
  liveUpdateConfiguration: With<LiveUpdateConfiguration, "maxHotplugRatio">;
  memBalloonStatsPeriod: number;
  migrations: EffectiveMigrationConfiguration;
  network: With<
    NetworkConfiguration,
    "defaultNetworkInterface" | "permitBridgeInterfaceOnPodNetwork" | "permitSlirpInterface"
  >;
  smbios: With<SMBiosConfiguration, "family" | "manufacturer" | "product">;
  supportedGuestAgentVersions: string[];
  vmRolloutStrategy: VMRolloutStrategy;
  webhookConfiguration: ReloadableComponentConfiguration;
}

/** The cluster's options for live migrations; the rest has no default. */
export type EffectiveMigrationConfiguration = With<
  MigrationConfiguration,
  | "allowAutoConverge"
  | "allowPostCopy"
  | "allowWorkloadDisruption"
  | "bandwidthPerMigration"
  | "completionTimeoutPerGiB"
  | "maxDowntimeMs"
  | "nodeDrainTaintKey"
  | "parallelMigrationsPerCluster"
  | "parallelOutboundMigrationsPerNode"
  | "progressTimeout"
  | "unsafeMigrationOverride"
  | "utilityVolumesTimeout"
>;
