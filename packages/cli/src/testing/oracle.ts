import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BatchArea } from "../batch/batch-area.ts";
import { batchAreas } from "../batch/batch-functions.ts";

/** A question and what KubeVirt's own code answered to it. */
export interface OracleCase {
  readonly name: string;
  readonly area: string;
  readonly fn: string;
  readonly input: unknown;
  readonly context: unknown;
  readonly expected: unknown;
}

/**
 * The recorded cases of an area, or undefined, with the reason on stderr, where this machine has
 * none. Tests use it as `test.skipIf(!cases)`.
 */
export function oracleCases(area: string): readonly OracleCase[] | undefined {
  const root = process.env["VIRTKIT_ORACLE_DIR"];
  const folder = root && join(root, area, "public");
  if (!folder || !existsSync(folder)) {
    process.stderr.write(`oracle area ${area} skipped: VIRTKIT_ORACLE_DIR does not hold it\n`);
    return undefined;
  }
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as OracleCase);
}

/** Answers a case as `virtkit batch` would; a function that throws answers `{ thrown }`. */
export async function answerCase({ area, fn, input, context }: OracleCase): Promise<unknown> {
  const { functions } = await (batchAreas[area] as BatchArea).load();
  try {
    const answer = await functions[fn]?.(input, context);
    return JSON.parse(JSON.stringify(answer ?? null));
  } catch (error) {
    return { thrown: String(error) };
  }
}
