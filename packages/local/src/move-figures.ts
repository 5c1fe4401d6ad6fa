import { readFileSync } from "node:fs";
import { writeDurably } from "@virtkit/host-primitives/durable";
import type { MoveEnd } from "./conclude-move.ts";
import type { VmiMove } from "./move-file.ts";

/** Measured figures of moves on this host. */
export interface MoveFigures {
  /** What QEMU sends if nobody limits it. */
  readonly bytesPerSecond: number;
  /** From the request to the first byte: creating a sandbox and starting a QEMU. */
  readonly setupMs: number;
  /** How long a guest is paused in addition to its last round. */
  readonly switchMs: number;
  /** Whether a move on this host has measured them. */
  readonly isMeasured: boolean;
}

/** Until the first move of this host: those of a small guest under software emulation. */
const assumed: MoveFigures = {
  ...{ bytesPerSecond: 250e6, setupMs: 3_000, switchMs: 250 },
  isMeasured: false,
};

/**
 * For the host, not for a state directory; until its next boot, after which it may be another one.
 */
const defaultFile = "/run/virtkit/move-figures.json";
/** Weight of the newest move. */
const newest = 0.5;

export function readMoveFigures(file: string = defaultFile): MoveFigures {
  try {
    const found = Object(JSON.parse(readFileSync(file, "utf8"))) as Record<string, unknown>;
    const amount = (name: keyof typeof assumed): number => Number(found[name]);
    const figures = {
      ...{ bytesPerSecond: amount("bytesPerSecond"), setupMs: amount("setupMs") },
      ...{ switchMs: amount("switchMs"), isMeasured: true },
    };
    return Object.values(figures).every((each) => Number(each) > 0) ? figures : assumed;
  } catch {
    // None yet, or none that could be read: what is assumed is as good.
    return assumed;
  }
}

/** Learns from a move. What was not measured, or was limited, changes nothing. */
export function learnFigures(
  before: MoveFigures,
  { startedAt }: Pick<VmiMove, "startedAt">,
  { source, target }: Pick<MoveEnd, "source" | "target">,
  isLimited: boolean,
): MoveFigures {
  const begun = source?.times?.["perform.before"];
  const sent = source?.times?.["perform.after"];
  const resumed = target?.times?.["resume.after"];
  if (begun === undefined || sent === undefined || resumed === undefined) return before;
  const weigh = (old: number, found: number): number =>
    before.isMeasured ? old * (1 - newest) + found * newest : found;
  const bytes = source?.progress?.transferred ?? 0;
  const rate = (bytes * 1_000) / Math.max(1, sent - begun);
  return {
    bytesPerSecond:
      isLimited || bytes === 0 ? before.bytesPerSecond : weigh(before.bytesPerSecond, rate),
    setupMs: weigh(before.setupMs, Math.max(1, begun - Date.parse(startedAt))),
    switchMs: weigh(before.switchMs, Math.max(1, resumed - sent)),
    isMeasured: true,
  };
}

/** Keeps them for the next forecast. They are not important enough to fail without them. */
export function keepMoveFigures(
  { isMeasured: _, ...figures }: MoveFigures,
  file: string = defaultFile,
): void {
  writeDurably(file, JSON.stringify(figures));
}
