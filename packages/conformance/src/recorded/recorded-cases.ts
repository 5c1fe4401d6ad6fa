import { existsSync, readFileSync } from "node:fs";

/** A question and the answer of KubeVirt's own code. */
export interface RecordedCase {
  readonly name: string;
  readonly area: string;
  readonly fn: string;
  readonly input: unknown;
  readonly context: unknown;
  readonly expected: unknown;
}

/** A recorded conversion, which three functions of the area `converter` answer. */
export interface RecordedConversion {
  readonly name: string;
  /** The VMI as it was written. */
  readonly vmiYaml: string;
  /** The VMI with its defaults; absent if KubeVirt refused it. */
  readonly vmi?: object;
  readonly context: { readonly environment?: object; readonly resolved?: object };
  readonly expected: {
    readonly xml?: string;
    /** The step at which KubeVirt failed. */
    readonly error?: string;
    readonly launcherXml?: string;
    readonly launcher?: object;
  };
}

/**
 * The lines of a file of `cases/`; an error if there are none, because a test that compares nothing must not
 * pass.
 */
function linesOf(area: string): readonly unknown[] {
  const file = new URL(`../../cases/${area}.jsonl`, import.meta.url);
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  if (lines.length === 0) throw new Error(`cases/${area}.jsonl has no recorded cases`);
  return lines.map((line) => JSON.parse(line) as unknown);
}

/** The recorded conversions as they are in `cases/converter.jsonl`. */
export function recordedConversions(): readonly RecordedConversion[] {
  return linesOf("converter") as readonly RecordedConversion[];
}

/** The recorded cases of an area. */
export function recordedCases(area: string): readonly RecordedCase[] {
  if (area === "converter")
    return recordedConversions().flatMap((each) => [...conversionCases(each)]);
  return linesOf(area).map((line) => ({ ...(line as RecordedCase), area }));
}

function* conversionCases(recorded: RecordedConversion): Generator<RecordedCase> {
  const { name, vmiYaml, vmi, context, expected } = recorded;
  const { xml, error, launcherXml, launcher } = expected;
  const converted = error === undefined ? { xml } : { error: true };
  const one = { area: "converter", name, context };
  yield { ...one, fn: "domain", input: { vmiYaml }, expected: converted };
  if (vmi === undefined || context.resolved === undefined) return;
  yield { ...one, fn: "convert", input: { vmi }, expected: converted };
  if (launcher === undefined && launcherXml === undefined) return;
  const edited = {
    ...(launcherXml && { xml: launcherXml }),
    ...(launcher && { counts: launcher }),
  };
  yield { ...one, fn: "launcher", input: { vmi }, expected: edited };
}

/** A list of facts of `cases/`: `fields.txt`, `control-context.json`, `routes.json`, `metrics.json`, `events.json`. */
export function recordedFacts(name: string): string {
  return readFileSync(new URL(`../../cases/${name}`, import.meta.url), "utf8");
}
