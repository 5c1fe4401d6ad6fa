import { readQuantity } from "@virtkit/api/quantity";
import { isAlive } from "@virtkit/domain-manager";
import {
  acceptableCompletionSeconds,
  type DirtyMeasure,
  dirtyCurve,
  type ForecastPolicy,
  forecastMigration,
  type MigrationForecast,
  migrationDataSize,
} from "@virtkit/migration/policy";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { type MoveFigures, readMoveFigures } from "./move-figures.ts";
import { moveDefaults, requirePostCopy } from "./move-vmi.ts";
import { type MoveObstacle, movingVmi } from "./moving-vmi.ts";
import { configOf } from "./plan-vmi.ts";
import { readStartNote } from "./start-note.ts";
import { connectVmi, vmiState } from "./vmi-life.ts";
import type { VmiRecord } from "./vmi-record.ts";

/** The input of {@link forecastMove}. */
export interface ForecastMoveOptions {
  readonly stateDirectory: string;
  readonly record: VmiRecord;
  /** Bytes a second that the move may use, as a quantity. Default: without limit. */
  readonly bandwidth?: string | undefined;
  /** Whether it would be switched to post-copy after the first round. Default false. */
  readonly postCopy?: boolean;
  /** What the move may do, over a cluster's defaults. */
  readonly options?: Partial<typeof moveDefaults>;
  /**
   * How long to measure the guest's writes, in seconds, one after the other. Default 1, 3 and 1.
   */
  readonly seconds?: readonly number[];
  readonly now?: () => Date;
}

/** Whether a guest can move, and the forecast. */
export type MoveForecast =
  | { readonly obstacle: MoveObstacle }
  | {
      readonly obstacle?: undefined;
      readonly forecast: MigrationForecast;
      readonly memoryBytes: number;
      readonly usedBytes: number;
      readonly diskBytes: number;
      /**
       * Undefined if it cannot be measured; the forecast then assumes that the guest writes
       * nothing.
       */
      readonly dirtyBytesPerSecond: number | undefined;
      readonly figures: MoveFigures;
    };

/**
 * Forecasts the move of a running guest. Moves and changes nothing; takes as long as it measures.
 */
export async function forecastMove(options: ForecastMoveOptions): Promise<MoveForecast> {
  const { stateDirectory, record, bandwidth, seconds = [1, 3, 1] } = options;
  const { status } = await vmiState(stateDirectory, record);
  if (!status || !isAlive(status)) {
    const message = `${record.name} is not running; only a running guest can move`;
    throw new NodeAgentError("AGENT_SANDBOX_GONE", message, { path: record.name });
  }
  if (options.postCopy) requirePostCopy(record.name);
  const { accel, podUid } = record;
  const { allowedHostDiskDirectories } = readStartNote(stateDirectory, podUid);
  const config = configOf({ accel, allowedHostDiskDirectories });
  const { vmi, obstacle } = movingVmi(record.vmi, status, { config, migrationUID: podUid });
  if (obstacle) return { obstacle };
  await using client = await connectVmi(stateDirectory, record);
  const looks: DirtyMeasure[] = [];
  let measure = await client.measureGuest({ vmi, seconds: seconds[0] ?? 1 });
  for (const [index, each] of seconds.entries()) {
    if (index > 0) measure = await client.measureGuest({ vmi, seconds: each });
    const { dirtyBytesPerSecond: bytesPerSecond } = measure;
    if (bytesPerSecond !== undefined) looks.push({ seconds: each, bytesPerSecond });
  }
  const measured = readMoveFigures();
  const linkBytesPerSecond = measured.bytesPerSecond;
  const limit = limitOf(bandwidth) ?? Number.POSITIVE_INFINITY;
  const figures = { ...measured, bytesPerSecond: Math.min(linkBytesPerSecond, limit) };
  const { memoryBytes, usedBytes, diskBytes } = measure;
  const curve = dirtyCurve(looks);
  const { maxDowntimeMs } = { ...moveDefaults, ...options.options };
  const forecast = forecastMigration({
    ...{ memoryBytes: usedBytes, diskBytes, maxDowntimeMs, linkBytesPerSecond },
    ...{ ...figures, ...curve, policy: policyOf(vmi, options) },
  });
  const dirtyBytesPerSecond = looks.length > 0 ? curve.dirtyBytesPerSecond : undefined;
  return { forecast, memoryBytes, usedBytes, diskBytes, dirtyBytesPerSecond, figures };
}

/** What `moveVmi` does about a guest that does not converge. */
function policyOf(
  vmi: Parameters<typeof migrationDataSize>[0],
  { postCopy = false, options = {} }: ForecastMoveOptions,
): ForecastPolicy {
  const wishes = postCopy ? { allowPostCopy: true, allowWorkloadDisruption: true } : {};
  const all = { ...moveDefaults, ...wishes, ...options };
  const { allowPostCopy, allowWorkloadDisruption, completionTimeoutPerGiB } = all;
  return {
    ...{ allowPostCopy, allowWorkloadDisruption, switchesAtOnce: postCopy },
    completionSeconds: acceptableCompletionSeconds(migrationDataSize(vmi), completionTimeoutPerGiB),
    progressSeconds: all.progressTimeout,
  };
}

function limitOf(bandwidth: string | undefined): number | undefined {
  if (bandwidth === undefined) return undefined;
  const amount = readQuantity(bandwidth);
  return typeof amount === "string" ? undefined : Number(amount.value());
}
