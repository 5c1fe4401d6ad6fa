/** What a forecast goes by. Amounts are bytes. */
export interface ForecastInput {
  /** Memory that holds something; pages of zeros cost next to nothing. */
  readonly memoryBytes: number;
  /** Content of the disks that are copied along. Default 0. */
  readonly diskBytes?: number;
  /** What the link carries, measured, or the limit that was asked for. */
  readonly bytesPerSecond: number;
  /** Memory that the guest writes in a second, each page counted once. */
  readonly dirtyBytesPerSecond: number;
  /** How long the guest may stand still for the last round. */
  readonly maxDowntimeMs: number;
  /** What a move takes besides, before the first byte is sent, in ms. Default 0. */
  readonly setupMs?: number;
  /** How long the guest stands still besides the last round, in ms. Default 0. */
  readonly switchMs?: number;
}

/** How a migration is expected to go. */
export interface MigrationForecast {
  /** Whether rounds leave less and less, until the rest can be sent while the guest stands still. */
  readonly converges: boolean;
  /** Until the guest runs at the target, in ms; of one that does not converge, until that is plain. */
  readonly durationMs: number;
  /** How long the guest stands still; of one that does not converge, if it were stopped then. */
  readonly downtimeMs: number;
  /** Rounds of memory before the guest is stopped. */
  readonly rounds: number;
  readonly transferredBytes: number;
}

/** As `judge` has it: a round that leaves more than this part of the one before leads nowhere. */
const leastGain = 0.96;
/** Far more than QEMU makes. */
const mostRounds = 1_000;

/**
 * Forecasts a migration in pre-copy. Disks go first, while the guest runs on. Then memory goes in rounds: each
 * sends what the guest wrote during the one before, until what is left can be sent in the downtime that is
 * allowed. Pure; runs anywhere.
 *
 * @example
 * ```ts
 * const { durationMs, downtimeMs } = forecastMigration({
 *   memoryBytes: 4 * 2 ** 30,
 *   bytesPerSecond: 1e9,
 *   dirtyBytesPerSecond: 50e6,
 *   maxDowntimeMs: 300,
 * });
 * ```
 */
export function forecastMigration(input: ForecastInput): MigrationForecast {
  const { memoryBytes, diskBytes = 0, dirtyBytesPerSecond, maxDowntimeMs } = input;
  const { setupMs = 0, switchMs = 0 } = input;
  const bytesPerMs = Math.max(1, input.bytesPerSecond) / 1_000;
  const dirtyPerMs = Math.max(0, dirtyBytesPerSecond) / 1_000;
  let sent = diskBytes;
  let elapsedMs = setupMs + diskBytes / bytesPerMs;
  let toSend = memoryBytes;
  let converges = false;
  let rounds = 0;
  while (!converges && rounds < mostRounds) {
    rounds++;
    const roundMs = toSend / bytesPerMs;
    sent += toSend;
    elapsedMs += roundMs;
    const left = Math.min(memoryBytes, dirtyPerMs * roundMs);
    converges = left / bytesPerMs <= maxDowntimeMs;
    // The first round sends what was written before; only what follows is the guest's pace.
    const isStuck = !converges && left > leastGain * toSend;
    toSend = left;
    if (isStuck) break;
  }
  const downtimeMs = toSend / bytesPerMs + switchMs;
  return {
    converges,
    durationMs: Math.round(elapsedMs + (converges ? downtimeMs : 0)),
    downtimeMs: Math.round(downtimeMs),
    rounds,
    transferredBytes: Math.round(sent + (converges ? toSend : 0)),
  };
}
