import { readQuantity } from "@virtkit/api/quantity";
import { isAlive } from "@virtkit/domain-manager";
import { forecastMigration, type MigrationForecast } from "@virtkit/migration/policy";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { type MoveFigures, readMoveFigures } from "./move-figures.ts";
import { type MoveObstacle, movingVmi } from "./moving-vmi.ts";
import { configOf } from "./plan-vmi.ts";
import { readStartNote } from "./start-note.ts";
import { connectVmi, vmiState } from "./vmi-life.ts";
import type { VmiRecord } from "./vmi-record.ts";

/** What {@link forecastMove} looks at. */
export interface ForecastMoveOptions {
  readonly stateDirectory: string;
  readonly record: VmiRecord;
  /** Bytes a second that the move may use, as a quantity. Default: without limit. */
  readonly bandwidth?: string | undefined;
  /** Default 300. */
  readonly maxDowntimeMs?: number;
  /** How long it is measured how fast the guest writes. Default 1. */
  readonly seconds?: number;
  readonly now?: () => Date;
}

/** Whether a guest can move, and how that is expected to go. */
export type MoveForecast =
  | { readonly obstacle: MoveObstacle }
  | {
      readonly obstacle?: undefined;
      readonly forecast: MigrationForecast;
      readonly memoryBytes: number;
      readonly usedBytes: number;
      readonly diskBytes: number;
      /** Undefined where it cannot be measured; then the forecast has the guest write nothing. */
      readonly dirtyBytesPerSecond: number | undefined;
      readonly figures: MoveFigures;
    };

/** Forecasts the move of a guest that runs. Moves and changes nothing; takes as long as it measures. */
export async function forecastMove(options: ForecastMoveOptions): Promise<MoveForecast> {
  const { stateDirectory, record, bandwidth, maxDowntimeMs = 300, seconds = 1 } = options;
  const { status } = await vmiState(stateDirectory, record);
  if (!status || !isAlive(status)) {
    const message = `${record.name} does not run; only a running guest can move`;
    throw new NodeAgentError("AGENT_SANDBOX_GONE", message, { path: record.name });
  }
  const { accel, podUid } = record;
  const { allowedHostDiskDirectories } = readStartNote(stateDirectory, podUid);
  const config = configOf({ accel, allowedHostDiskDirectories });
  const { vmi, obstacle } = movingVmi(record.vmi, status, { config, migrationUID: podUid });
  if (obstacle) return { obstacle };
  await using client = await connectVmi(stateDirectory, record);
  const measure = await client.measureGuest({ vmi, seconds });
  const measured = readMoveFigures();
  const limit = limitOf(bandwidth);
  const figures = {
    ...measured,
    bytesPerSecond: Math.min(measured.bytesPerSecond, limit ?? Number.POSITIVE_INFINITY),
  };
  const { memoryBytes, usedBytes, diskBytes, dirtyBytesPerSecond } = measure;
  const forecast = forecastMigration({
    ...{ memoryBytes: usedBytes, diskBytes, maxDowntimeMs, ...figures },
    dirtyBytesPerSecond: dirtyBytesPerSecond ?? 0,
  });
  return { forecast, memoryBytes, usedBytes, diskBytes, dirtyBytesPerSecond, figures };
}

function limitOf(bandwidth: string | undefined): number | undefined {
  if (bandwidth === undefined) return undefined;
  const amount = readQuantity(bandwidth);
  return typeof amount === "string" ? undefined : Number(amount.value());
}
