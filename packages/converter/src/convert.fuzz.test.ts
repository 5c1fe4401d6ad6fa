import type { VirtualMachineInstance } from "@virtkit/api/schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { configurators } from "./configurators.ts";
import { convert, convertUnguarded } from "./convert.ts";
import { prepareVmi } from "./domain-for.ts";
import { resolveContext } from "./resolve/resolve-context.ts";
import { representativeVmis } from "./testing/representative-vmis.ts";
import { toXml } from "./xml/to-xml.ts";

const subjects = representativeVmis.map(({ vmi, environment }) => {
  const prepared = prepareVmi(vmi, environment);
  return { text: JSON.stringify(prepared), context: resolveContext(prepared, environment) };
});

const odd = fc.constantFrom<unknown>(
  null,
  0,
  -1,
  1.5,
  "",
  "x",
  "\u0000",
  true,
  [],
  {},
  [null],
  { a: 1 },
  1e300,
  "1e999",
);

/** A VMI with a few values replaced by odd ones. */
const damaged = fc
  .tuple(
    fc.nat({ max: subjects.length - 1 }),
    fc.array(fc.tuple(fc.nat(), odd), { minLength: 1, maxLength: 3 }),
  )
  .map(([at, changes]) => {
    const { text = "{}", context } = subjects[at] ?? {};
    const vmi = JSON.parse(text) as VirtualMachineInstance;
    for (const [place, value] of changes) replaceOne(vmi.spec, place, value);
    return { vmi, context: context ?? { architecture: "amd64" } };
  });

function replaceOne(root: object, place: number, value: unknown): void {
  const holders: [Record<string, unknown>, string][] = [];
  const collect = (node: object): void => {
    for (const [key, child] of Object.entries(node)) {
      holders.push([node as Record<string, unknown>, key]);
      if (typeof child === "object" && child !== null) collect(child);
    }
  };
  collect(root);
  const chosen = holders[place % holders.length];
  // A copy: a value that is inserted twice would make a cycle.
  if (chosen) chosen[0][chosen[1]] = structuredClone(value);
}

/** The kind of error from converting a damaged VMI, if any. */
function outcome(run: () => unknown, name: (result: unknown) => string = () => "a domain"): string {
  try {
    return name(run());
  } catch (error) {
    return (error as Error).name;
  }
}

describe("a damaged VMI", () => {
  test("becomes a domain or a ConverterError, never anything else", () => {
    fc.assert(
      fc.property(damaged, ({ vmi, context }) => {
        const result = outcome(() => toXml(convert(vmi, context)));
        expect(["a domain", "ConverterError"]).toContain(result);
      }),
      { numRuns: 600 },
    );
  });

  test("gives the same result whether or not it is copied into one shape first", () => {
    fc.assert(
      fc.property(damaged, ({ vmi, context }) => {
        const run = (how: typeof convert): string =>
          outcome(
            () => toXml(how(vmi, context)),
            (xml) => xml as string,
          );
        const asIs = run(convertUnguarded);
        expect(run(convert)).toBe(asIs.endsWith("Error") ? "ConverterError" : asIs);
      }),
      { numRuns: 600 },
    );
  });

  test("control: the same VMIs would crash the configurators themselves", () => {
    const attack = fc.check(
      fc.property(damaged, ({ vmi }) => {
        const draft = {
          vmi,
          spec: vmi.spec.domain,
          devices: vmi.spec.domain.devices,
          annotations: {},
          context: {},
          domain: { devices: { inputs: [] } },
        };
        const inputs = configurators.find(({ name }) => name === "interfaces");
        return outcome(() => inputs?.configure(draft as never)) !== "TypeError";
      }),
      { numRuns: 600 },
    );
    expect(attack.failed).toBe(true);
  });
});
