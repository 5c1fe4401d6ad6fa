import { expect, test } from "vitest";
import { cluster } from "../testing/verdict.ts";
import { admit } from "./admit.ts";
import { argumentProblem } from "./argument-problem.ts";
import { admitMigrationPolicy } from "./migration-policy.ts";
import { mutate } from "./mutate.ts";
import { admitPodEviction, evictionDecision } from "./pod-eviction.ts";

const config = cluster();

test("the first argument that is no object is named, with what was found", () => {
  expect(argumentProblem({ request: {}, config: {} })).toBeUndefined();
  expect(argumentProblem({ request: {}, config: "x", lookup: null })).toEqual({
    argument: "config",
    message: 'config must be an object; found "x"',
  });
});

const missing: readonly (null | undefined)[] = [null, undefined];

test.each(missing)("without a request (%s) the answer is no", (none) => {
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

test.each(missing)("without a configuration (%s) the answer is no", (none) => {
  const request = { kind: "VirtualMachine", operation: "CREATE", object: {} } as const;
  expect(admit(request, none as never).allowed).toBe(false);
  expect(mutate(request, none as never).allowed).toBe(false);
  expect(admitMigrationPolicy({ object: {} }, none as never).allowed).toBe(false);
});

test.each(missing)("an eviction without a lookup (%s) is refused", (none) => {
  const request = { namespace: "n", name: "p" };
  expect(admitPodEviction(request, config, none as never).response.allowed).toBe(false);
});

test.each(missing)("there is no decision on a VMI that is %s", (none) => {
  const error = { code: "API_OBJECT_MALFORMED", path: "vmi" };
  expect(() => evictionDecision(none as never, config)).toThrow(expect.objectContaining(error));
});
