import { expect, test } from "vitest";
import { cluster } from "../testing/verdict.ts";
import { admit } from "./admit.ts";
import { argumentProblem } from "./argument-problem.ts";
import { admitMigrationPolicy } from "./migration-policy.ts";
import { mutate } from "./mutate.ts";
import { admitPodEviction, evictionDecision } from "./pod-eviction.ts";

const config = cluster();

test("names the first argument that is not an object, with what was found", () => {
  expect(argumentProblem({ request: {}, config: {} })).toBeUndefined();
  expect(argumentProblem({ request: {}, config: "x", lookup: null })).toEqual({
    argument: "config",
    message: 'config must be an object; found "x"',
  });
});

const missing: readonly (null | undefined)[] = [null, undefined];

test.each(missing)("refuses a missing request (%s)", (none) => {
  const refusal = {
    allowed: false,
    code: 400,
    message: expect.stringMatching(/^request must be an object; found (null|nothing)$/) as unknown,
  };
  expect(admit(none as never, config)).toMatchObject(refusal);
  expect(mutate(none as never, config)).toMatchObject(refusal);
  expect(admitMigrationPolicy(none as never, config)).toMatchObject(refusal);
  expect(admitPodEviction(none as never, config, {} as never).response).toMatchObject(refusal);
});

test.each(missing)("refuses a missing configuration (%s)", (none) => {
  const request = { kind: "VirtualMachine", operation: "CREATE", object: {} } as const;
  expect(admit(request, none as never).allowed).toBe(false);
  expect(mutate(request, none as never).allowed).toBe(false);
  expect(admitMigrationPolicy({ object: {} }, none as never).allowed).toBe(false);
});

test.each(missing)("refuses an eviction without a lookup (%s)", (none) => {
  const request = { namespace: "n", name: "p" };
  expect(admitPodEviction(request, config, none as never).response.allowed).toBe(false);
});

test.each(missing)("makes no decision for a VMI that is %s", (none) => {
  const error = { code: "API_OBJECT_MALFORMED", path: "vmi" };
  expect(() => evictionDecision(none as never, config)).toThrow(expect.objectContaining(error));
});
