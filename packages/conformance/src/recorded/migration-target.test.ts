import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { parseDomain } from "@virtkit/converter";
import { destinationXml } from "@virtkit/migration/target";
import { expect, test } from "vitest";
import { recordedCases } from "./recorded-cases.ts";

/** Guests with encrypted memory do not migrate, so a target does not know their elements. */
const doNotMigrate = /<(launchSecurity|iommufd)\b/;

test("a target accepts every domain that KubeVirt starts, except those that do not migrate", () => {
  const refused: string[] = [];
  let taken = 0;
  for (const { name, expected } of recordedCases("converter")) {
    const { xml } = expected as { readonly xml?: string };
    if (xml === undefined || doNotMigrate.test(xml)) continue;
    try {
      const vmi = { metadata: {} } as VirtualMachineInstance;
      destinationXml({ vmi, sourceXml: xml, own: parseDomain(xml) });
      taken++;
    } catch (error) {
      refused.push(`${name}: ${String(error).slice(0, 200)}`);
    }
  }
  expect(refused.slice(0, 20)).toEqual([]);
  expect(taken).toBeGreaterThan(1500);
});
