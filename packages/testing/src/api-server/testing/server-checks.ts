import { applyChecks } from "./apply-checks.ts";
import { conditionalChecks } from "./conditional-checks.ts";
import { customResourceChecks } from "./custom-resource-checks.ts";
import { deleteChecks } from "./delete-checks.ts";
import { policyChecks } from "./policy-checks.ts";
import { readChecks } from "./read-checks.ts";
import type { ServerCheck } from "./server-check.ts";
import { writeChecks } from "./write-checks.ts";

/** Every verb, option and error of an API server on which our code branches. */
export const serverChecks: readonly ServerCheck[] = [
  ...writeChecks,
  ...conditionalChecks,
  ...applyChecks,
  ...policyChecks,
  ...deleteChecks,
  ...readChecks,
  ...customResourceChecks,
];
