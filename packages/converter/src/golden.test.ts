import { readFileSync, writeFileSync } from "node:fs";
import { diffXmlTrees, readXmlTree } from "@virtkit/conformance/recorded";
import { describe, expect, test } from "vitest";
import { convert } from "./convert.ts";
import { prepareVmi } from "./domain-for.ts";
import { launcherEdits } from "./launcher/index.ts";
import { resolveContext } from "./resolve/resolve-context.ts";
import { abiBreak } from "./testing/guest-abi.ts";
import { type Representative, representativeVmis } from "./testing/representative-vmis.ts";
import { toXml } from "./xml/to-xml.ts";

/** The document for libvirt. */
function documentOf({ vmi, environment }: Representative): string {
  const prepared = prepareVmi(vmi, environment);
  const context = resolveContext(prepared, environment);
  return toXml(launcherEdits(convert(prepared, context), prepared, context, environment));
}

function golden(name: string): URL {
  return new URL(`testing/golden/${name}.xml`, import.meta.url);
}

/** Set to write the golden documents again, after a change that guests are meant to see. */
const update = process.env["VIRTKIT_UPDATE_GOLDEN"] === "1";

describe("what a guest sees of its hardware", () => {
  test.each(representativeVmis)("stays as it is: $name", (representative) => {
    const xml = documentOf(representative);
    if (update) writeFileSync(golden(representative.name), xml);
    const recorded = readFileSync(golden(representative.name), "utf8");
    const differences = diffXmlTrees(readXmlTree(xml), readXmlTree(recorded));
    expect(
      differences.map(abiBreak),
      "guests that exist would see other hardware after an upgrade; if that is wanted, say so in a changeset and set VIRTKIT_UPDATE_GOLDEN=1",
    ).toEqual([]);
  });

  test("control: a change is found, with what it breaks", () => {
    const [first] = representativeVmis;
    if (!first) throw new Error("there are none");
    const recorded = readFileSync(golden(first.name), "utf8");
    const changed = recorded
      .replace('machine="q35"', 'machine="pc"')
      .replace('mac address="02', 'mac address="06');
    expect(diffXmlTrees(readXmlTree(changed), readXmlTree(recorded)).map(abiBreak)).toEqual([
      expect.stringMatching(/machine.* -> the chipset changes/),
      expect.stringMatching(/mac.* -> the card gets another address/),
    ]);
  });
});
