import type { VirtualMachineInstance } from "@virtkit/api/schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import { smallContext, smallVmi } from "../testing/conversion.ts";
import { explain } from "./explain.ts";
import { recordReads } from "./record-reads.ts";

const text = JSON.stringify(
  smallVmi({
    devices: { disks: [{ name: "a", disk: { bus: "virtio" } }], rng: {} },
    spec: { volumes: [{ name: "a", emptyDisk: { capacity: "1Gi" } }] },
  }),
);

const odd = fc.constantFrom<unknown>(null, 5, "", "\u0000", [], {}, [null], true);

/** A VMI with some value replaced. */
const damaged = fc.tuple(fc.nat({ max: 30 }), odd).map(([place, value]) => {
  let at = 0;
  const revive = (_key: string, found: unknown): unknown => (at++ === place ? value : found);
  return JSON.parse(text, revive) as VirtualMachineInstance;
});

function outcome(run: () => unknown): string {
  try {
    run();
    return "done";
  } catch (error) {
    return (error as Error).name;
  }
}

test("a damaged VMI is explained or gives a ConverterError, never anything else", () => {
  fc.assert(
    fc.property(damaged, (vmi) => {
      const result = outcome(() => explain(vmi, smallContext()));
      expect(["done", "ConverterError"]).toContain(result);
    }),
    { numRuns: 30 },
  );
});

test("control: the damage would break a careless reader", () => {
  const attack = fc.check(
    fc.property(damaged, (vmi) => {
      const { watched } = recordReads(vmi);
      const careless = (): unknown =>
        (watched as VirtualMachineInstance).spec.volumes?.map(({ name }) => name.toUpperCase());
      return outcome(careless) !== "TypeError";
    }),
    { numRuns: 300 },
  );
  expect(attack.failed).toBe(true);
});
