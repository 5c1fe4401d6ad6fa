import type { PlannedEvent } from "@virtkit/api/status";
import type {
  ConvergencePolicy,
  MigrateFlag,
  MigrationMode,
  MigrationOptions,
  StallDetection,
  Verdict,
} from "@virtkit/migration/source";
import type { AbortStatus, MigratingDomain } from "@virtkit/migration/source/agent";
import type { SingleCall } from "@virtkit/migration/source/kubevirt";

/** Options as the node agent sends them to the launcher in KubeVirt. */
interface RecordedOptions {
  readonly Bandwidth?: string;
  readonly ProgressTimeout?: number;
  readonly CompletionTimeoutPerGiB?: number;
  readonly MaxDowntimeMs?: number;
  readonly UnsafeMigration?: boolean;
  readonly AllowAutoConverge?: boolean;
  readonly AllowPostCopy?: boolean;
  readonly AllowWorkloadDisruption?: boolean;
  readonly ParallelMigrationThreads?: number | null;
  readonly Compression?: string | null;
  readonly StallDetectorOptions?: object | null;
}

/** Options in our words. */
export function migrationOptionsOf(options: object): MigrationOptions {
  const recorded = options as RecordedOptions;
  const { StallDetectorOptions: stall } = recorded;
  return {
    bandwidth: recorded.Bandwidth ?? "0",
    progressTimeout: recorded.ProgressTimeout ?? 0,
    completionTimeoutPerGiB: recorded.CompletionTimeoutPerGiB ?? 0,
    maxDowntimeMs: recorded.MaxDowntimeMs ?? 0,
    unsafe: recorded.UnsafeMigration ?? false,
    allowAutoConverge: recorded.AllowAutoConverge ?? false,
    allowPostCopy: recorded.AllowPostCopy ?? false,
    allowWorkloadDisruption: recorded.AllowWorkloadDisruption ?? false,
    parallelThreads: recorded.ParallelMigrationThreads ?? undefined,
    compression: recorded.Compression ?? undefined,
    ...(stall && { stallDetection: stallDetectionOf(stall) }),
  };
}

/** Options as they are recorded. */
export function recordedOptions(options: MigrationOptions): RecordedOptions {
  const { stallDetection: stall } = options;
  return {
    Bandwidth: String(options.bandwidth),
    ProgressTimeout: options.progressTimeout,
    CompletionTimeoutPerGiB: options.completionTimeoutPerGiB,
    MaxDowntimeMs: options.maxDowntimeMs,
    UnsafeMigration: options.unsafe,
    AllowAutoConverge: options.allowAutoConverge,
    AllowPostCopy: options.allowPostCopy,
    AllowWorkloadDisruption: options.allowWorkloadDisruption,
    ParallelMigrationThreads: options.parallelThreads ?? null,
    Compression: options.compression ?? null,
    StallDetectorOptions: stall
      ? {
          StallMargin: stall.margin,
          StallProgressTimeout: stall.progressTimeout,
          SwitchoverTimeout: stall.switchoverTimeout,
          EwmaAlpha: stall.ewmaAlpha,
          PrecopyPossibleFactor: stall.precopyPossibleFactor,
          PatienceWindowDecayFactor: stall.patienceDecay,
          SearchLocalMinima: stall.searchLocalMinima,
          CompletionTimeoutFactor: stall.completionTimeoutFactor,
        }
      : null,
  };
}

/** Stall detection in our words. */
export function stallDetectionOf(options: object): StallDetection {
  const recorded = options as Readonly<Record<string, unknown>>;
  const number = (name: string): number => Number(recorded[name] ?? 0);
  return {
    margin: number("StallMargin"),
    progressTimeout: number("StallProgressTimeout"),
    switchoverTimeout: number("SwitchoverTimeout"),
    ewmaAlpha: number("EwmaAlpha"),
    precopyPossibleFactor: number("PrecopyPossibleFactor"),
    patienceDecay: number("PatienceWindowDecayFactor"),
    searchLocalMinima: recorded["SearchLocalMinima"] === true,
    completionTimeoutFactor: number("CompletionTimeoutFactor"),
  };
}

interface RecordedDomain {
  readonly status?: string;
  readonly reason?: string;
  readonly migration?: {
    readonly UID?: string;
    readonly StartTimestamp?: string;
    readonly EndTimestamp?: string;
    readonly Mode?: string;
    readonly Failed?: boolean;
    readonly FailureReason?: string;
    readonly AbortStatus?: string;
  } | null;
}

/** A domain in our words. */
export function domainOf(domain: unknown): MigratingDomain | undefined {
  if (typeof domain !== "object" || domain === null) return undefined;
  const { status = "", reason = "", migration: recorded } = domain as RecordedDomain;
  if (!recorded) return { state: status, reason };
  const migration = {
    uid: recorded.UID ?? "",
    startTimestamp: recorded.StartTimestamp,
    endTimestamp: recorded.EndTimestamp,
    mode: (recorded.Mode || undefined) as MigrationMode | undefined,
    failed: recorded.Failed,
    failureReason: recorded.FailureReason,
    abortStatus: (recorded.AbortStatus || undefined) as AbortStatus | undefined,
  };
  return { state: status, reason, migration };
}

/** Events as they are recorded. */
export function eventLines(events: readonly PlannedEvent[]): readonly string[] {
  return events.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
}

/** libvirt's names and numbers of flags. */
const flagTable: Readonly<Partial<Record<MigrateFlag, readonly [name: string, bit: number]>>> = {
  live: ["LIVE", 0x1],
  peerToPeer: ["PEER2PEER", 0x2],
  persistDestination: ["PERSIST_DEST", 0x8],
  paused: ["PAUSED", 0x20],
  nonSharedIncremental: ["NON_SHARED_INC", 0x80],
  unsafe: ["UNSAFE", 0x200],
  compressed: ["COMPRESSED", 0x800],
  autoConverge: ["AUTO_CONVERGE", 0x2000],
  postcopy: ["POSTCOPY", 0x8000],
  parallel: ["PARALLEL", 0x20000],
};

/** Flags as they are recorded. */
export function recordedFlags(flags: readonly MigrateFlag[]): object {
  const known = flags.flatMap((flag) => [flagTable[flag] ?? ([flag, 0] as const)]);
  return {
    flags: known.reduce((word, [, bit]) => word | bit, 0),
    names: known.map(([name]) => name),
  };
}

/** The parameters of the single call as they are recorded. */
export function recordedParams({ params, destinationXml }: SingleCall): object {
  const disks = params.migrate_disks ?? null;
  const { bandwidth, compression, "parallel.connections": parallel } = params;
  return {
    uri: params.migrate_uri,
    bandwidthMiBs: bandwidth ?? 0,
    bandwidthSet: bandwidth !== undefined,
    compression: compression ?? "",
    compressionSet: compression !== undefined,
    destName: params.destination_name,
    destXML: destinationXml,
    persistXMLSame: params.persistent_xml === params.destination_xml,
    migrateDisks: disks,
    migrateDisksSet: disks !== null,
    detectZeroes: params.migrate_disks_detect_zeroes ?? null,
    disksURI: params.disks_uri ?? "",
    parallel: parallel ?? 0,
    parallelSet: parallel !== undefined,
  };
}

interface BeforePass {
  readonly mode: MigrationMode;
  readonly abortStatus: string;
  readonly policy: ConvergencePolicy;
}

/** What a pass of KubeVirt's monitor did, for what is to be done. */
export function recordedCalls(
  verdict: Verdict,
  { mode, abortStatus, policy: { completionSeconds } }: BeforePass,
): object {
  const unchanged = {
    calls: [] as readonly unknown[],
    mode: mode as string,
    abortStatus,
    acceptableCompletionTime: completionSeconds,
    pausedByMigration: false,
  };
  switch (verdict.action) {
    case "go-on":
      return unchanged;
    case "postcopy":
      return { ...unchanged, calls: ["start-post-copy"], mode: "PostCopy" };
    case "abort":
      return { ...unchanged, calls: ["abort-job"], abortStatus: "Succeeded" };
    default: {
      const isPause = verdict.action === "pause";
      const call = isPause ? "suspend" : { "set-max-downtime-ms": verdict.maxDowntimeMs };
      return {
        ...unchanged,
        calls: [call],
        mode: "Paused",
        acceptableCompletionTime: verdict.completionSeconds ?? completionSeconds,
        pausedByMigration: true,
      };
    }
  }
}
