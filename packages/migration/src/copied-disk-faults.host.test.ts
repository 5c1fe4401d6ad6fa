import { afterAll, beforeAll, expect, test } from "vitest";
import { type FaultOutcome, runFault } from "./testing/fault-case.ts";
import type { Fault, FaultMoment } from "./testing/fault-moments.ts";
import { TwoNodes } from "./testing/two-nodes.ts";

let lab: TwoNodes;

beforeAll(async () => {
  lab = await TwoNodes.start();
  await lab.boot({ copies: true });
});
afterAll(async () => await lab?.[Symbol.asyncDispose]());

/**
 * Each fault where both images are whole and equal, and only the decision says which of them the guest goes on with:
 * before it the target's is thrown away, after it the source's is stale.
 */
const worst: readonly (readonly [Fault, FaultMoment, FaultOutcome])[] = [
  ["source launcher", "source perform.after", "stays"],
  ["source launcher", "source decision.after", "moves"],
  ["target launcher", "target release.after", "moves"],
  ["source libvirtd", "source perform.after", "moves"],
  ["target libvirtd", "source finish.after", "moves"],
  ["source QEMU", "source perform.before", "cold"],
  ["target QEMU", "source decision.after", "cold"],
  ["proxy", "source finish.before", "stays"],
  ["link", "source release.before", "moves"],
  ["reply", "source finish.before", "stays"],
  ["source launcher", "post-copy source switch.before", "stays"],
  ["reply", "post-copy source finish.before", "moves"],
];

test.each(worst)(
  "%s is lost at %s while a disk is copied: the guest %s, with every acknowledged write",
  // A guard against hanging, beyond that of the case itself.
  { timeout: 420_000 },
  async (fault, moment, expected) => {
    expect(await runFault(lab, fault, moment)).toBe(expected);
  },
);

test("control: the image the guest left behind lacks the guest's later writes", async () => {
  const [runner] = await lab.running();
  const other = lab.nodes.find((node) => node !== runner);
  await lab.counting();
  expect(lab.faults(runner)).toEqual([]);
  expect(lab.faults(other).length).toBeGreaterThan(0);
});
