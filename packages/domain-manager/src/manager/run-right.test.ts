import { expect, test } from "vitest";
import { MayRun } from "./may-run.ts";
import { RunRight } from "./run-right.ts";

const identity = { vmiUid: "vmi", podUid: "pod" };
const proof = (change = {}) => MayRun.fromAgent({ ...identity, epoch: 2, ...change });
const refused = expect.objectContaining({ code: "DOMAIN_NOT_GRANTED" });

test("accepts a proof for this guest and this Pod, as often as it comes", () => {
  const right = new RunRight(identity);
  expect(right.check(proof())).toEqual({ ...identity, epoch: 2 });
  expect(right.check(proof())).toEqual({ ...identity, epoch: 2 });
});

test.each([{ vmiUid: "other" }, { podUid: "other" }])("rejects a proof for %j", (change) => {
  expect(() => new RunRight(identity).check(proof(change))).toThrow(refused);
});

test("rejects what only looks like a proof", () => {
  const grant = { ...identity, epoch: 2 };
  expect(() => new RunRight(identity).check({ grant } as never)).toThrow(refused);
  expect(() => new RunRight(identity).check(undefined as never)).toThrow(refused);
});

test("rejects a proof that is older than one already seen", () => {
  const right = new RunRight(identity);
  right.check(proof({ epoch: 3 }));
  expect(() => right.check(proof())).toThrow(refused);
  right.check(proof({ epoch: 3 }));
});

test("rejects every proof once the guest is deleted", () => {
  const right = new RunRight(identity);
  right.close();
  expect(() => right.check(proof({ epoch: 9 }))).toThrow(refused);
});
