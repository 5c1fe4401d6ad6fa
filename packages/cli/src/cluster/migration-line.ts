import { megabytes } from "../local/move-line.ts";
import type { MigrationStory } from "./migration-story.ts";

/**
 * The phases in order, in the words of the progress line. Most of the time is spent in the one before the last.
 */
const steps: readonly (readonly [string, string])[] = [
  ["Pending", "waiting for its turn"],
  ["Scheduling", "finding a node"],
  ["Scheduled", "target Pod ready"],
  ["PreparingTarget", "preparing the target"],
  ["TargetReady", "connecting"],
  ["Running", "moving the guest"],
  ["Succeeded", "moved"],
];
const cells = 24;
/** How much of the bar is full when the guest begins to move. */
const prepared = 0.1;

/**
 * One line for a migration in progress, like that of a move on one host: bar, share, what happens, where, since
 * when.
 */
export function migrationLine(story: MigrationStory, elapsedMs: number): string {
  const { phase, from, to, transfer } = story;
  const step = Math.max(
    0,
    steps.findIndex(([name]) => name === phase),
  );
  const part = partOf(story, step);
  const full = Math.round(part * cells);
  const bar = `[${"#".repeat(full)}${".".repeat(cells - full)}]`;
  const percent = `${Math.floor(part * 100)}`.padStart(3);
  const figures = [
    steps[step]?.[1] ?? phase,
    ...(from && to ? [`${from} to ${to}`] : []),
    ...(transfer
      ? [`${megabytes(transfer.bytesPerSecond)} MB/s`, `${megabytes(transfer.remaining)} MB left`]
      : []),
    `${(elapsedMs / 1000).toFixed(1)} s`,
  ];
  return `${bar} ${percent} %  ${figures.join(", ")}`;
}

/** By the phase and, while the guest moves, by what has been sent if its node reports that. */
function partOf({ phase, transfer }: MigrationStory, step: number): number {
  const moving = steps.length - 2;
  if (step < moving) return (step / moving) * prepared;
  if (phase !== "Running") return 1;
  const { total = 0, remaining = 0 } = transfer ?? {};
  const sent = total > 0 ? Math.min(1, Math.max(0, 1 - remaining / total)) : 0;
  return prepared + sent * (1 - prepared);
}
