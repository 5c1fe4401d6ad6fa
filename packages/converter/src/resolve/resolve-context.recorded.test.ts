import { expect, test } from "vitest";
import { type Conversion, conversions } from "../testing/conversions.ts";
import { resolveContext } from "./resolve-context.ts";

test("an environment becomes the same context as in KubeVirt", () => {
  const given = conversions().filter(({ vmi }) => vmi);
  expect(given.length).toBeGreaterThan(700);
  const wrong = given.filter((recorded) => !resolvesAlike(recorded)).map(({ name }) => name);
  expect(wrong).toEqual([]);
});

function resolvesAlike({ vmi, environment, resolved }: Conversion): boolean {
  try {
    if (!vmi) return false;
    const { host: _host, ...context } = resolveContext(vmi, environment);
    return JSON.stringify(compact(context)) === JSON.stringify(compact(resolved));
  } catch {
    return resolved === undefined;
  }
}

/** Without what Go writes for nothing: nulls, empty strings, lists and objects; with sorted keys. */
function compact(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > 0 ? value.map(compact) : undefined;
  if (typeof value !== "object" || value === null)
    return value === "" ? undefined : (value ?? undefined);
  const entries = Object.entries(value)
    .map(([key, child]) => [key, compact(child)] as const)
    .filter(([, child]) => child !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
