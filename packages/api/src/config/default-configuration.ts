import type { ReloadableComponentConfiguration } from "../schema/index.ts";
import type { EffectiveConfiguration } from "./effective-configuration.ts";

/** Processor architectures with settings of their own. */
export type Architecture = "amd64" | "arm64" | "s390x";

/** What the defaults depend on. */
export interface DefaultsOfPlatform {
  readonly defaultArchitecture: string;
  /** Key of the taint of nodes that VMIs must leave. */
  readonly drainTaint: string;
}

/**
 * The configuration of a cluster that configures nothing, as in KubeVirt v1.9.0. A new object on each call.
 * `allowWorkloadDisruption` is absent: it follows `allowPostCopy` after the merge.
 */
export function defaultConfiguration({ defaultArchitecture, drainTaint }: DefaultsOfPlatform): Omit<
  EffectiveConfiguration,
  "migrations"
> & {
  migrations: Omit<EffectiveConfiguration["migrations"], "allowWorkloadDisruption">;
} {
  return {
    apiConfiguration: rateLimit(200, 400),
    architectureConfiguration: {
      amd64: {
        emulatedMachines: ["q35*", "pc-q35*"],
        machineType: "q35",
        ovmfPath: "/usr/share/edk2/ovmf",
      },
      arm64: {
        emulatedMachines: ["virt*"],
        machineType: "virt",
        ovmfPath: "/usr/share/AAVMF",
      },
      s390x: { emulatedMachines: ["s390-ccw-virtio*"], machineType: "s390-ccw-virtio" },
      defaultArchitecture,
    },
    controllerConfiguration: rateLimit(200, 400),
    cpuRequest: "100m",
    developerConfiguration: {
      cpuAllocationRatio: 10,
      diskVerification: { memoryLimit: "2000Mi" },
      logVerbosity: {
        virtAPI: 2,
        virtController: 2,
        virtHandler: 2,
        virtLauncher: 2,
        virtOperator: 2,
      },
      memoryOvercommit: 100,
      minimumReservePVCBytes: 131_072,
      pvcTolerateLessSpaceUpToPercent: 10,
    },
    evictionStrategy: "None",
    handlerConfiguration: rateLimit(50, 100),
    hypervisors: [{ name: "kvm" }],
    imagePullPolicy: "IfNotPresent",
    liveUpdateConfiguration: { maxHotplugRatio: 4 },
    memBalloonStatsPeriod: 10,
    migrations: {
      allowAutoConverge: false,
      allowPostCopy: false,
      bandwidthPerMigration: "0",
      completionTimeoutPerGiB: 150,
      maxDowntimeMs: 900,
      nodeDrainTaintKey: drainTaint,
      parallelMigrationsPerCluster: 5,
      parallelOutboundMigrationsPerNode: 2,
      progressTimeout: 150,
      unsafeMigrationOverride: false,
      utilityVolumesTimeout: 150,
    },
    network: {
      defaultNetworkInterface: "bridge",
      permitBridgeInterfaceOnPodNetwork: true,
      permitSlirpInterface: false,
    },
    smbios: { family: "KubeVirt", manufacturer: "KubeVirt", product: "None" },
    supportedGuestAgentVersions: ["2.*", "3.*", "4.*", "5.*"],
    vmRolloutStrategy: "LiveUpdate",
    webhookConfiguration: rateLimit(200, 400),
  };
}

function rateLimit(qps: number, burst: number): ReloadableComponentConfiguration {
  return { restClient: { rateLimiter: { tokenBucketRateLimiter: { qps, burst } } } };
}
