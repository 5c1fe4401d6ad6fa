import { wallTime } from "@virtkit/api/clock";

/** Options of {@link rotatingSeeds}. */
export interface RotatingSeedsOptions {
  /** By default the process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly wall?: () => Date;
  /** Called with a line that names the seeds and says how to repeat the run. By default the line is printed. */
  readonly print?: (line: string) => void;
}

/**
 * New seeds in each run, printed so that the run can be repeated. `VIRTKIT_SEED` sets the first seed,
 * `VIRTKIT_SEEDS` multiplies their number: `npm run test:sim -- --seeds 10`.
 *
 * @example
 * ```ts
 * const report = await shakeScenario(scenario, { seeds: rotatingSeeds("my controller", 20) });
 * ```
 */
export function rotatingSeeds(
  name: string,
  count: number,
  {
    env = process.env,
    wall = wallTime,
    print = (line) => process.stdout.write(`${line}\n`),
  }: RotatingSeedsOptions = {},
): readonly number[] {
  const first =
    whole(env["VIRTKIT_SEED"]) ?? (Math.floor(wall().getTime() / 1000) % 1_000_000) * 1000;
  const all = count * Math.max(1, whole(env["VIRTKIT_SEEDS"]) ?? 1);
  print(`${name}: seeds ${first} to ${first + all - 1}; again: VIRTKIT_SEED=${first}`);
  return Array.from({ length: all }, (_, index) => first + index);
}

function whole(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}
