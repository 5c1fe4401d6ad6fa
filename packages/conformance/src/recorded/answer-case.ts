import { batchAreas } from "../areas/areas.ts";
import type { RecordedCase } from "./recorded-cases.ts";

/** What a function returned, or that it threw. */
export type CaseAnswer = { readonly answer: unknown } | { readonly thrown: string };

/** Answers a case as `virtkit batch` would. */
export async function answerCase({ area, fn, input, context }: RecordedCase): Promise<CaseAnswer> {
  const run = (await batchAreas[area]?.load())?.functions[fn];
  if (!run) throw new Error(`area ${area} has no function ${fn}`);
  try {
    const answer = await run(input, context);
    return { answer: JSON.parse(JSON.stringify(answer ?? null)) };
  } catch (error) {
    return { thrown: String(error) };
  }
}
