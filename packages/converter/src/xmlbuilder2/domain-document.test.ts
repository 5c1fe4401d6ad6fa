import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { create } from "xmlbuilder2";
import { domainFor } from "../domain-for.ts";
import { arbitraryDomain } from "../testing/arbitrary-domain.ts";
import { liveDump } from "../testing/live-dump.ts";
import { representativeVmis } from "../testing/representative-vmis.ts";
import { parseDomain } from "../xml/parse-domain.ts";
import { toXml } from "../xml/to-xml.ts";
import { fromXmlBuilder, toXmlBuilder } from "./domain-document.ts";

describe("a domain as a document of xmlbuilder2", () => {
  test.each(representativeVmis)("is converted back: $name", ({ vmi, environment }) => {
    const domain = domainFor(vmi, environment);
    expect(fromXmlBuilder(toXmlBuilder(domain))).toEqual(domain);
  });

  test("is converted back with unknown parts, and whatever the text", () => {
    const live = parseDomain(liveDump);
    expect(fromXmlBuilder(toXmlBuilder(live))).toEqual(live);
    fc.assert(
      fc.property(arbitraryDomain, (domain) => {
        const parsed = parseDomain(toXml(domain));
        expect(fromXmlBuilder(toXmlBuilder(parsed))).toEqual(parsed);
      }),
      { numRuns: 30 },
    );
  });

  test("can be edited with xmlbuilder2's functions", () => {
    const document = toXmlBuilder(parseDomain(liveDump));
    document.root().ele("devices").ele("shmem", { name: "a & b" });
    const { extra } = fromXmlBuilder(document);
    expect(extra?.children?.at(-1)).toEqual({
      name: "devices",
      children: [{ name: "shmem", attributes: { name: "a & b" } }],
    });
  });

  test("must be a domain", () => {
    expect(() => fromXmlBuilder(create().ele("network"))).toThrow(
      expect.objectContaining({ code: "CONVERTER_XML_MALFORMED" }),
    );
  });
});
