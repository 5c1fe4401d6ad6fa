import { metadataProblems } from "@virtkit/api/admission";
import type { Fault } from "./checker.ts";

/** Names, labels and annotations that the API server refuses in an object of any kind. */
export function check(object: unknown): readonly Fault[] {
  return metadataProblems(object).map((problem) => ({ code: "metadata", ...problem }));
}
