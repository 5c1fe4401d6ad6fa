import type { MigrationStory } from "./migration-story.ts";

/** The phases in their order, in the words of the line that shows a move. */
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

/** One line for a migration under way, like that of a move on one host: bar, part, what happens, where, since when. */
export function migrationLine({ phase, from, to }: MigrationStory, elapsedMs: number): string {
  const step = Math.max(
    0,
    steps.findIndex(([name]) => name === phase),
  );
  const part = step / (steps.length - 1);
  const full = Math.round(part * cells);
  const bar = `[${"#".repeat(full)}${".".repeat(cells - full)}]`;
  const percent = `${Math.floor(part * 100)}`.padStart(3);
  const figures = [
    steps[step]?.[1] ?? phase,
    ...(from && to ? [`${from} to ${to}`] : []),
    `${(elapsedMs / 1000).toFixed(1)} s`,
  ];
  return `${bar} ${percent} %  ${figures.join(", ")}`;
}
