import { expect, test } from "vitest";
import { PlanDraft } from "../plan/plan-draft.ts";
import { sampleConfig, sampleNow, sampleView, sampleVmi } from "./testing/sample-view.ts";
import { VmiPass } from "./vmi-pass.ts";
import { assignCid } from "./vsock-cid.ts";

function cidOf(taken: readonly number[], own?: number): number | undefined {
  const vmi = sampleVmi(own === undefined ? {} : { VSOCKCID: own });
  vmi.spec.domain.devices.autoattachVSOCK = true;
  const others = taken.map((VSOCKCID) => sampleVmi({ VSOCKCID }));
  const view = sampleView({ vmi, vmis: () => others });
  const pass = new VmiPass(view, vmi, sampleConfig, sampleNow, new PlanDraft());
  assignCid(pass);
  return pass.status.VSOCKCID;
}

test("gives the same VMI the same address, or the next one if it is taken", () => {
  const first = cidOf([]) ?? 0;
  expect(first).toBeGreaterThanOrEqual(3);
  expect(cidOf([])).toBe(first);
  expect(cidOf([first, first + 1])).toBe(first + 2);
});

test("keeps the address of a VMI", () => {
  expect(cidOf([], 1234)).toBe(1234);
});
