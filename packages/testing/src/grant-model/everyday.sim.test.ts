import { explore } from "@virtkit/testing/explore";
import { checkText, everyday, grantModel } from "@virtkit/testing/grant-model";
import { expect, test } from "vitest";

test("in every interleaving of the everyday configuration, at most one copy runs and every run can end well", () => {
  const result = explore(grantModel(everyday));
  process.stdout.write(`${checkText(everyday, result, { counts: true })}\n`);
  expect(result.violation).toBeUndefined();
  expect(result.exhausted).toBe(true);
  expect(result.states).toBeGreaterThan(1_000_000);
});
