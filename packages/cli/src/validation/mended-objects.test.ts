import { clusterConfig } from "@virtkit/api/config";
import { checkObject, type Path } from "@virtkit/api/schema";
import { recordedCases } from "@virtkit/conformance/recorded";
import { expect, test } from "vitest";
import { check } from "./admission-checker.ts";
import { mendedObjects } from "./mended-objects.ts";
import { validateDocuments } from "./validate-documents.ts";

const config = clusterConfig();

/** One field in this many is broken, starting elsewhere in each object. All 8,876 take half a minute. */
const every = 16;

/** The VMs and VMIs of the recorded cases that break rules, but not the schema. */
const refused = recordedCases("admission")
  .map(({ input }) => (input as { object?: unknown }).object)
  .filter((object) => checkObject(object, { rules: true }).valid)
  .map((object) => ({ object, causes: check(object, { strict: false, config }) }))
  .filter(({ causes }) => causes.length > 0 && causes.every(({ last }) => !last));

/** Every value below the spec, as the path to it. */
function pathsIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const inner = Object.entries(value).flatMap(([key, each]) =>
    pathsIn(each, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return path.length > 1 ? [path, ...inner] : inner;
}

/** The object with a value of the wrong type at a path. */
function breakAt(value: unknown, [step, ...rest]: Path): unknown {
  if (step === undefined) return typeof value === "object" ? "text" : [];
  if (Array.isArray(value)) {
    return value.map((item, index) => (index === step ? breakAt(item, rest) : item));
  }
  const object = value as Record<string | number, unknown>;
  return { ...object, [step]: breakAt(object[step], rest) };
}

interface Tally {
  broken: number;
  /** Causes that the rules find in the recorded objects. */
  expected: number;
  kept: number;
  /** Causes that only a broken field brings. */
  invented: string[];
}

/** Breaks fields of the objects, one at a time, and compares the reported rules with those before. */
async function breakFields(mend?: typeof mendedObjects): Promise<Tally> {
  const tally: Tally = { broken: 0, expected: 0, kept: 0, invented: [] };
  for (const [number, { object, causes }] of refused.entries()) {
    const known = new Set(causes.map(({ message }) => message));
    const paths = pathsIn((object as { spec: unknown }).spec, ["spec"]);
    for (const path of paths.filter((_, index) => index % every === number % every)) {
      const found = await rulesFound(breakAt(object, path), mend);
      tally.broken++;
      tally.expected += causes.length;
      tally.kept += found.filter((message) => known.has(message)).length;
      tally.invented.push(...found.filter((message) => !known.has(message)));
    }
  }
  return tally;
}

async function rulesFound(value: unknown, mend?: typeof mendedObjects): Promise<string[]> {
  const document = { source: "f", value, position: () => ({ line: 1, column: 1 }) };
  const options = { strict: false, schemaOnly: false, config, ...(mend && { mend }) };
  const { findings } = await validateDocuments([document], options);
  const rules = findings.filter(({ code }) => code === "admission");
  expect(findings.length, "the broken field itself").toBeGreaterThan(rules.length);
  return rules.map(({ message }) => message);
}

test("a field of the wrong type hides few rules, and none is reported because of it", async () => {
  const { broken, expected, kept, invented } = await breakFields();
  expect(invented).toEqual([]);
  expect(broken).toBeGreaterThan(400);
  expect(kept / expected).toBeGreaterThan(0.8);
});

test("control: objects that are fixed in only one way report rules that need not be broken", async () => {
  const once: typeof mendedObjects = function* (...args) {
    for (const first of mendedObjects(...args)) return yield first;
  };
  expect((await breakFields(once)).invented.length).toBeGreaterThan(50);
});
