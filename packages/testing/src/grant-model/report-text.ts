import type { Exploration, Trace } from "../explore/index.ts";
import { configurationText } from "./configurations.ts";
import type { GrantModelOptions } from "./grant-model.ts";

/** A readable report of a check: the limits, the counts, and what was found. */
export function checkText(
  options: GrantModelOptions,
  result: Exploration<Uint8Array>,
  { counts = false }: { readonly counts?: boolean } = {},
): string {
  const { states, transitions, depth, milliseconds, exhausted, violation } = result;
  const perSecond = Math.round(states / (milliseconds / 1000));
  const found = violation ? `${violation.rule}: ${violation.message}` : "nothing wrong";
  const lines = [
    configurationText(options),
    `  ${exhausted ? "exhausted" : "NOT exhausted"}: ${states} states, ${transitions} transitions, depth ${depth}, ${(milliseconds / 1000).toFixed(1)} s, ${perSecond} states/s; ${found}`,
  ];
  if (counts) {
    for (const [name, count] of sorted(result.ends)) lines.push(`  end    ${pad(count)} ${name}`);
    for (const [name, { kind, count }] of sorted(result.steps)) {
      lines.push(`  ${kind.padEnd(6)} ${pad(count)} ${name}`);
    }
  }
  return lines.join("\n");
}

/** The steps of a counterexample on one line, without those that start the first guest. */
export function counterexampleText({ steps }: Trace<Uint8Array>): string {
  const names = steps.map(({ step }) => step);
  const started = names.indexOf("agent: starts the guest");
  const rest = started > 0 && started < names.length - 1 ? names.slice(started + 1) : names;
  return rest.join(" > ");
}

function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

function pad(count: number): string {
  return String(count).padStart(9);
}
