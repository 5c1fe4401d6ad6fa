import type { ActorCounts } from "./disturbed-client.ts";
import {
  disturbanceOf,
  type Perturbation,
  perturbationsOf,
  perturbationText,
} from "./perturbation.ts";
import { type Played, playScenario, type Scenario } from "./play-scenario.ts";

/** A perturbation that a scenario did not survive. */
export interface Finding {
  readonly perturbation: Perturbation;
  readonly message: string;
  /** The last changes before it, at most thirty. */
  readonly changes: readonly string[];
}

/** The result of a scenario under all perturbations. */
export interface PerturbationReport {
  readonly scenario: string;
  readonly runs: number;
  /** Writes and events of each actor undisturbed. */
  readonly counts: Readonly<Record<string, Readonly<ActorCounts>>>;
  readonly findings: readonly Finding[];
}

/** Options of {@link perturbScenario}. */
export interface PerturbOptions {
  /** The text of the one perturbation to play. */
  readonly only?: string;
  /** Plays every n-th perturbation; the seed selects the first, so n consecutive seeds cover all of them. */
  readonly share?: { readonly every: number; readonly seed: number };
}

/**
 * Plays a scenario under every perturbation: a crash before and after each write, a lost reply to each write, each
 * write that takes effect only after its timeout, a view that lags from each event on, and each event missed. Throws if
 * the scenario fails undisturbed.
 */
export async function perturbScenario(
  scenario: Scenario,
  { only, share = { every: 1, seed: 0 } }: PerturbOptions = {},
): Promise<PerturbationReport> {
  const undisturbed = await playPerturbed(scenario, undefined);
  if (undisturbed.failure) {
    throw new Error(`${scenario.name} fails undisturbed: ${undisturbed.failure.message}`);
  }
  const all = Object.entries(undisturbed.counts)
    .flatMap(([actor, counts]) => perturbationsOf(actor, counts))
    .filter((_, index) => index % share.every === share.seed % share.every)
    .filter((each) => only === undefined || perturbationText(each) === only);
  const findings: Finding[] = [];
  for (const perturbation of all) {
    const { failure } = await playPerturbed(scenario, perturbation);
    if (failure) findings.push({ ...failure, perturbation });
  }
  return { scenario: scenario.name, runs: all.length, counts: undisturbed.counts, findings };
}

/** A readable report: what was found, what happened before, and how to replay it. */
export function perturbationReportText({ scenario, runs, findings }: PerturbationReport): string {
  const head = `${scenario}: ${runs} perturbations, ${findings.length} found something`;
  const parts = findings.map(({ perturbation, message, changes }) =>
    [
      `\n${perturbationText(perturbation)}: ${message}`,
      ...changes.map((line) => `  ${line}`),
      `  again: perturbScenario(scenario, { only: ${JSON.stringify(perturbationText(perturbation))} })`,
    ].join("\n"),
  );
  return [head, ...parts].join("\n");
}

async function playPerturbed(
  scenario: Scenario,
  perturbation: Perturbation | undefined,
): Promise<Played> {
  return await playScenario(scenario, (actor) =>
    disturbanceOf(perturbation?.actor === actor ? perturbation : undefined),
  );
}
