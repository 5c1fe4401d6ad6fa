import type { JobStats } from "../source/migration-progress.ts";

/** A guest whose memory is being sent, as a monitor sees it. */
export interface MigratingGuest {
  readonly memoryBytes: number;
  /** Bytes per second, by time in ms. */
  readonly bandwidth: (atMs: number) => number;
  /** What the guest has written when an iteration ends, by its number. */
  readonly dirtied: (iteration: number, tookMs: number) => number;
  /** How long it may be paused; it moves once the remainder takes no longer than that. */
  readonly downtimeMs: number;
  /** By how much auto-converge slows it down, by iteration. */
  readonly throttle?: (iteration: number) => number;
}

/** A sample of its job, or that it has moved. */
export interface GuestSample {
  readonly atMs: number;
  readonly stats: JobStats;
}

const stepMs = 20;
const pollMs = 400;

/** Samples every 400 ms and at each new iteration, until the guest has moved or the time is up. */
export function* migrationSamples(guest: MigratingGuest, untilMs: number): Generator<GuestSample> {
  let remaining = guest.memoryBytes;
  let transferred = 0;
  let iteration = 1;
  let startedMs = 0;
  for (let atMs = 0; atMs <= untilMs; atMs += stepMs) {
    const rate = guest.bandwidth(atMs);
    const sent = Math.min(remaining, (rate * stepMs) / 1000);
    transferred += sent;
    remaining -= sent;
    const isOver = remaining <= 0;
    if (isOver) {
      remaining = guest.dirtied(iteration, atMs - startedMs);
      iteration++;
      startedMs = atMs;
      if ((remaining / rate) * 1000 <= guest.downtimeMs) return;
    }
    if (!isOver && atMs % pollMs !== 0) continue;
    const throttle = guest.throttle?.(iteration) ?? 0;
    yield {
      atMs,
      stats: jobStats({ ...guest, transferred, remaining, iteration, rate, throttle }),
    };
  }
}

interface Figures {
  readonly memoryBytes: number;
  readonly transferred: number;
  readonly remaining: number;
  readonly iteration: number;
  readonly rate: number;
  readonly throttle: number;
}

/** Figures as libvirt sends them. */
export function jobStats(figures: Figures): JobStats {
  const whole = (value: number): bigint => BigInt(Math.round(value));
  return {
    type: "unbounded",
    params: {
      data_total: whole(figures.memoryBytes),
      data_processed: whole(figures.transferred),
      data_remaining: whole(figures.remaining),
      memory_total: whole(figures.memoryBytes),
      memory_processed: whole(figures.transferred),
      memory_remaining: whole(figures.remaining),
      memory_bps: whole(figures.rate),
      memory_iteration: whole(figures.iteration),
      memory_page_size: 4096n,
      ...(figures.throttle > 0 && { auto_converge_throttle: figures.throttle }),
    },
  };
}
