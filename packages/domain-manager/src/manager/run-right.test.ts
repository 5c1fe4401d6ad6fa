import { expect, test } from "vitest";
import { MayRun } from "./may-run.ts";
import { RunRight } from "./run-right.ts";

const identity = { vmiUid: "vmi", podUid: "pod" };
const proof = (change = {}) => MayRun.fromAgent({ ...identity, epoch: 2, ...change });
const refused = expect.objectContaining({ code: "DOMAIN_NOT_GRANTED" });

test("a proof of this guest and this Pod is good, as often as it comes", () => {
  const right = new RunRight(identity);
  expect(right.check(proof())).toEqual({ ...identity, epoch: 2 });
  expect(right.check(proof())).toEqual({ ...identity, epoch: 2 });
});

test.each([{ vmiUid: "other" }, { podUid: "other" }])("a proof of %j is not", (change) => {
  expect(() => new RunRight(identity).check(proof(change))).toThrow(refused);
});

test("what only looks like a proof is not", () => {
  const grant = { ...identity, epoch: 2 };
  expect(() => new RunRight(identity).check({ grant } as never)).toThrow(refused);
  expect(() => new RunRight(identity).check(undefined as never)).toThrow(refused);
});

test("a proof that is older than one that was seen is not", () => {
  const right = new RunRight(identity);
  right.check(proof({ epoch: 3 }));
  expect(() => right.check(proof())).toThrow(refused);
  right.check(proof({ epoch: 3 }));
});

test("once the guest is deleted no proof is good", () => {
  const right = new RunRight(identity);
  right.close();
  expect(() => right.check(proof({ epoch: 9 }))).toThrow(refused);
});
