import { expect, test } from "vitest";
import { MayRun, type RunGrant } from "./may-run.ts";

const grant: RunGrant = { vmiUid: "vmi", podUid: "pod", epoch: 1 };

test("a proof says what was claimed", () => {
  expect(MayRun.fromAgent(grant).grant).toEqual(grant);
});

test.each([
  { ...grant, vmiUid: "" },
  { ...grant, podUid: 7 as never },
  { ...grant, podUid: "x".repeat(254) },
  { ...grant, epoch: 0 },
  { ...grant, epoch: 1.5 },
  { ...grant, epoch: undefined as never },
])("makes no proof of %j", (wrong) => {
  expect(() => MayRun.fromAgent(wrong)).toThrow(
    expect.objectContaining({ code: "DOMAIN_NOT_GRANTED" }),
  );
});
