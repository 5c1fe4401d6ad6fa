import { checkObject } from "@virtkit/api/schema";
import type { CheckerContext, Fault } from "./checker.ts";

/** Types, required fields, and what the API server refuses by the CRD; unknown fields in strict mode. */
export function check(object: unknown, { strict, config }: CheckerContext): readonly Fault[] {
  return checkObject(object, { strict, rules: true, group: config.names.group }).issues;
}
