/** What a forecast is based on. Amounts are in bytes. */
export interface ForecastInput {
  /** Memory with content; pages of zeros cost almost nothing. */
  readonly memoryBytes: number;
  /** Content of the disks that are copied along. Default 0. */
  readonly diskBytes?: number;
  /** Bandwidth of the link: measured, or the configured limit. */
  readonly bytesPerSecond: number;
  /** Bandwidth without a limit: QEMU has none while the guest is paused. Default `bytesPerSecond`. */
  readonly linkBytesPerSecond?: number;
  /** Memory that the guest writes in one second, each page counted once. */
  readonly dirtyBytesPerSecond: number;
  /** How that grows over a longer time, as an exponent; `dirtyCurve` finds it. Default 1. */
  readonly dirtyGrowth?: number;
  /** How long the guest may be paused for the last round. */
  readonly maxDowntimeMs: number;
  /** Additional time before the first byte is sent, in ms. Default 0. */
  readonly setupMs?: number;
  /** Additional time that the guest is paused, in ms. Default 0. */
  readonly switchMs?: number;
  /** When to give up on pre-copy, and what to do then. Default: never. */
  readonly policy?: ForecastPolicy;
}

/** What happens to a guest that does not converge. */
export interface ForecastPolicy {
  /** How long the whole migration may take, in seconds; 0 means no limit. */
  readonly completionSeconds: number;
  /** How long it may continue without progress, in seconds; 0 means no limit. */
  readonly progressSeconds: number;
  readonly allowPostCopy: boolean;
  readonly allowWorkloadDisruption: boolean;
  /** Whether to switch to post-copy after the first round, without waiting to see whether rounds help. */
  readonly switchesAtOnce?: boolean;
}

/** How a migration is expected to end. `never`: nothing known here ends it. */
export type ForecastEnd = "preCopy" | "postCopy" | "paused" | "aborted" | "never";

/** How a migration is expected to go. */
export interface MigrationForecast {
  /** Whether the rounds leave less and less, until the rest can be sent while the guest is paused. */
  readonly converges: boolean;
  /** How it ends, on its own or by the policy. */
  readonly end: ForecastEnd;
  /**
   * Time until all of the guest is at the target, or until the migration is aborted, in ms. For `never`:
   * until it is clear that it never ends.
   */
  readonly durationMs: number;
  /** How long the guest is paused. */
  readonly downtimeMs: number;
  /** Rounds of memory before the guest is stopped, or before it is clear that they do not help. */
  readonly rounds: number;
  readonly transferredBytes: number;
}

/** The same as in `judge`: a round that leaves more than this share of the previous one does not help. */
const leastGain = 0.96;
/** The same as in `judge`: this many rounds must bring no improvement before that is believed. */
const roundsToTell = 3;
/** Far more than QEMU makes. */
const mostRounds = 1_000;
/** QEMU checks ten times per second whether the rest fits into the downtime. */
const lookMs = 100;

/** What the rounds of pre-copy lead to. */
interface Rounds {
  readonly converges: boolean;
  readonly elapsedMs: number;
  readonly sent: number;
  readonly rounds: number;
  /** What the last round left, in addition to what fits into the downtime. */
  readonly left: number;
}

/**
 * Forecasts a migration. Disks are copied first, while the guest keeps running. Then memory is sent in
 * rounds: each sends what the guest wrote during the previous one. QEMU stops the guest as soon as the rest
 * fits into the allowed downtime, and checks that all the time; so a round ends when only that much is left,
 * and in the last one the guest wrote next to nothing. If the rounds do not converge, the policy says what is
 * done, and when. Pure; runs anywhere.
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
  const { switchMs = 0, policy } = input;
  const found = playRounds(input);
  const { converges, rounds, sent, left } = found;
  const linkPerMs = perMs(input.linkBytesPerSecond ?? input.bytesPerSecond);
  const atRest = Math.min(input.memoryBytes, restOf(input));
  if (converges) {
    const downtimeMs = atRest / linkPerMs + switchMs;
    return {
      ...{ converges, end: "preCopy", rounds, transferredBytes: Math.round(sent + atRest) },
      ...{ durationMs: Math.round(found.elapsedMs + downtimeMs) },
      downtimeMs: Math.round(downtimeMs),
    };
  }
  const end = endBy(policy, found);
  const rest = end === "aborted" ? 0 : left + atRest;
  // A paused guest is still sent with the limit; only QEMU's own stop has none.
  const restMs = rest / (end === "postCopy" ? linkPerMs : perMs(input.bytesPerSecond));
  const standsStill = { postCopy: switchMs, aborted: 0 } as Partial<Record<ForecastEnd, number>>;
  const isOver = end === "never" || end === "aborted";
  const givenUpMs = givenUpAt(input, found);
  return {
    ...{ converges, end, rounds, transferredBytes: Math.round(sent + (isOver ? 0 : rest)) },
    durationMs: Math.round(isOver ? givenUpMs : givenUpMs + restMs + switchMs),
    downtimeMs: Math.round(standsStill[end] ?? restMs + switchMs),
  };
}

function playRounds(input: ForecastInput): Rounds {
  const { memoryBytes, diskBytes = 0, setupMs = 0, policy } = input;
  const bytesPerMs = perMs(input.bytesPerSecond);
  const latestMs = setupMs + (policy?.completionSeconds || Number.POSITIVE_INFINITY) * 1_000;
  let elapsedMs = setupMs + diskBytes / bytesPerMs;
  let sent = diskBytes;
  let left = Math.max(0, memoryBytes - restOf(input));
  for (let rounds = 1; ; rounds++) {
    const roundMs = left / bytesPerMs;
    sent += left;
    elapsedMs += roundMs;
    const written = Math.min(memoryBytes, writtenIn(input, roundMs));
    const converges = written <= lookMs * bytesPerMs;
    // The first round sends what was written before; only the following ones show the guest's pace.
    const isStuck = written > leastGain * left || rounds === mostRounds || elapsedMs > latestMs;
    left = written;
    if (converges || isStuck || policy?.switchesAtOnce) {
      return { converges, elapsedMs, sent, rounds, left };
    }
  }
}

/** How much can be left for the time in which the guest is paused. */
function restOf({ bytesPerSecond, maxDowntimeMs }: ForecastInput): number {
  return perMs(bytesPerSecond) * maxDowntimeMs;
}

/** Within a second a guest is assumed to write new pages all the time: there is no finer sample. */
function writtenIn(
  { dirtyBytesPerSecond, dirtyGrowth = 1 }: ForecastInput,
  milliseconds: number,
): number {
  const seconds = milliseconds / 1_000;
  return Math.max(0, dirtyBytesPerSecond) * (seconds <= 1 ? seconds : seconds ** dirtyGrowth);
}

function perMs(bytesPerSecond: number): number {
  return Math.max(1, bytesPerSecond) / 1_000;
}

function endBy(policy: ForecastPolicy | undefined, { rounds }: Rounds): ForecastEnd {
  if (policy?.switchesAtOnce && rounds === 1) return "postCopy";
  if (!policy || (policy.completionSeconds === 0 && policy.progressSeconds === 0)) return "never";
  if (!policy.allowWorkloadDisruption) return "aborted";
  return policy.allowPostCopy ? "postCopy" : "paused";
}

/** When the policy applies to rounds that do not help. */
function givenUpAt({ policy, setupMs = 0, bytesPerSecond }: ForecastInput, found: Rounds): number {
  const { elapsedMs, left } = found;
  if (!policy || policy.switchesAtOnce) return elapsedMs;
  const { completionSeconds, progressSeconds } = policy;
  const ways: number[] = [];
  if (completionSeconds > 0) ways.push(setupMs + completionSeconds * 1_000);
  if (progressSeconds > 0) {
    const triedMs = (roundsToTell * left) / perMs(bytesPerSecond);
    ways.push(elapsedMs + Math.max(progressSeconds * 1_000, triedMs));
  }
  return ways.length > 0 ? Math.max(elapsedMs, Math.min(...ways)) : elapsedMs;
}
