import { readXmlTree, type XmlTree } from "@virtkit/conformance/recorded";
import { describe, expect, test } from "vitest";
import { hostFacts } from "../resolve/resolve-context.ts";
import { checkClaim, misattributed } from "../testing/check-claims.ts";
import { conversions } from "../testing/conversions.ts";
import { explain } from "./explain.ts";

/** Checking all takes a minute; `VIRTKIT_EXPLAIN_ALL=1` does it. */
const wantedCases = process.env["VIRTKIT_EXPLAIN_ALL"] ? Number.POSITIVE_INFINITY : 40;
const claimsPerCase = 6;

const recorded = conversions().filter(({ vmi, resolved, xml }) => vmi && resolved && xml);
const every = Math.max(1, Math.floor(recorded.length / wantedCases));
const cases = recorded
  .filter((_, at) => at % every === 0)
  .map(({ name, vmi, resolved, environment, xml = "" }) => {
    if (!vmi || !resolved) throw new Error("filtered out above");
    const context = { ...resolved, host: hostFacts(environment) };
    return { name, vmi, context, xml, nodes: explain(vmi, context).nodes };
  });

/** The named fields to check, spread over each case. */
const claims = cases.flatMap((given) => {
  const all = given.nodes.flatMap((node) =>
    node.sources
      .filter(({ kind, value }) => value !== undefined && kind !== "default")
      .map((source) => ({ ...given, node, source })),
  );
  const step = Math.max(1, Math.floor(all.length / claimsPerCase));
  return all.filter((_, at) => at % step === 0).slice(0, claimsPerCase);
});

describe("explain", { timeout: 120_000 }, () => {
  test("has a source and a sentence for every element and attribute of KubeVirt's XML", () => {
    for (const { name, xml, nodes } of cases) {
      expect({ name, count: nodes.length }).toEqual({ name, count: countNodes(readXmlTree(xml)) });
      for (const { path, sources, step } of nodes) {
        const said = sources.every((source) => source.path !== "" && source.because.endsWith("."));
        if (sources.length === 0 || !said || step.summary === "")
          throw new Error(`${name} ${path}`);
      }
    }
  });

  test("names fields that change or remove the node when they change", () => {
    const outcomes = claims.map((claim) => ({ claim, outcome: checkClaim(claim) }));
    const failed = outcomes.filter(({ outcome }) => outcome === "fails");
    expect(
      failed.map(({ claim: { name, node, source } }) => [name, node.path, source.path]),
    ).toEqual([]);
    expect(outcomes.filter(({ outcome }) => outcome === "holds").length).toBeGreaterThanOrEqual(
      200,
    );
  });

  test("control: the check finds wrongly named fields", () => {
    const wrong = claims.map((claim) => checkClaim({ ...claim, source: misattributed(claim) }));
    expect(wrong.filter((outcome) => outcome === "fails").length).toBeGreaterThan(wrong.length / 2);
  });
});

function countNodes({ attributes, children }: XmlTree): number {
  const own = 1 + Object.keys(attributes).length;
  return children.reduce((sum, child) => sum + countNodes(child), own);
}
