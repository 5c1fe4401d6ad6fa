import { beforeEach, describe, expect, test } from "vitest";
import { convert } from "./convert.ts";
import { domainFor } from "./domain-for.ts";
import { gracePeriodSeconds, hotplugPorts, launcherEdits } from "./launcher/index.ts";
import type { Environment } from "./resolve/environment.ts";
import { hostFacts, resolveContext } from "./resolve/resolve-context.ts";
import {
  differences,
  type OracleCase,
  oracleCases,
  oracleMissing,
} from "./testing/oracle-cases.ts";
import { toXml } from "./xml/to-xml.ts";

const cases = oracleCases();
describe("as KubeVirt does", { timeout: 60_000 }, () => {
  beforeEach(({ skip }) => skip(oracleMissing !== undefined, oracleMissing));

  test("convert: a VMI with its defaults and a context become the same domain", () => {
    const given = cases.filter(({ vmi, resolved }) => vmi && resolved);
    expect(given.length).toBeGreaterThan(700);
    expect(
      differences(given, ({ vmi, resolved, environment }) => {
        if (!vmi || !resolved) throw new Error("filtered out above");
        return { xml: toXml(convert(vmi, { ...resolved, host: hostFacts(environment) })) };
      }),
    ).toEqual([]);
  });

  test("resolveContext: an environment becomes the same context", () => {
    const given = cases.filter(({ vmi }) => vmi);
    const wrong = given.filter((recorded) => !resolvesAlike(recorded)).map(({ name }) => name);
    expect(wrong).toEqual([]);
  });

  test("domainFor: a VMI as written becomes the same domain", async () => {
    const { parse } = await import("yaml");
    expect(
      differences(cases, ({ vmiYaml, environment }) => ({
        xml: toXml(domainFor(parse(vmiYaml), environment as Environment)),
      })),
    ).toEqual([]);
  });

  test("launcher: the same edits and the same free ports", () => {
    const given = cases.filter(
      ({ launcherXml, launcherCounts, launcherError }) =>
        launcherXml ?? launcherCounts ?? launcherError,
    );
    expect(given.length).toBeGreaterThan(600);
    const recorded = given.map((one) => ({
      ...one,
      xml: one.launcherXml,
      error: one.launcherError,
      counts: one.launcherCounts,
    }));
    expect(
      differences(recorded, ({ vmi, resolved, environment }) => {
        if (!vmi || !resolved) throw new Error("there is no context");
        const context = { ...resolved, host: hostFacts(environment) };
        const domain = launcherEdits(convert(vmi, context), vmi, context, environment);
        const counts = {
          ...hotplugPorts(vmi, domain),
          gracePeriodSeconds: gracePeriodSeconds(vmi),
        };
        return { xml: toXml(domain), counts };
      }),
    ).toEqual([]);
  });
});

function resolvesAlike({ vmi, environment, resolved }: OracleCase): boolean {
  try {
    if (!vmi) return false;
    const { host: _host, ...context } = resolveContext(vmi, environment as Environment);
    return JSON.stringify(compact(context)) === JSON.stringify(compact(resolved));
  } catch {
    return resolved === undefined;
  }
}

/** Without what Go writes for nothing: nulls, empty texts, lists and objects; with sorted keys. */
function compact(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > 0 ? value.map(compact) : undefined;
  if (typeof value !== "object" || value === null)
    return value === "" ? undefined : (value ?? undefined);
  const entries = Object.entries(value)
    .map(([key, child]) => [key, compact(child)] as const)
    .filter(([, child]) => child !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
