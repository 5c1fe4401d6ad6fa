import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isConverterError } from "../converter-error.ts";
import { liveDump } from "../testing/live-dump.ts";
import { parseDomain } from "./parse-domain.ts";
import { toXml } from "./to-xml.ts";

/** How reading ends: with a domain that can be written, or with an error. */
function outcome(xml: string, parse: (xml: string) => unknown = parseDomain): string {
  try {
    toXml(parse(xml) as ReturnType<typeof parseDomain>);
    return "read";
  } catch (error) {
    if (!isConverterError(error)) return `threw ${(error as Error).name}`;
    const { code, line, column } = error;
    if (code !== "CONVERTER_XML_MALFORMED" || !isPlace(line) || !isPlace(column)) {
      return `threw ${code} at ${line}:${column}`;
    }
    return "refused";
  }
}

function isPlace(value: number | undefined): boolean {
  return value !== undefined && Number.isInteger(value) && value > 0;
}

const nested = (depth: number): string => `${"<domain>".repeat(depth)}${"</domain>".repeat(depth)}`;

/** The billion laughs: each entity is ten of the previous one. */
const laughs = `<!DOCTYPE domain [<!ENTITY l0 "ha">${Array.from(
  { length: 9 },
  (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`,
).join("")}]><domain>&l9;</domain>`;

describe("parseDomain refuses", () => {
  test.each([
    ["nothing", "", 1, 1],
    ["something that is not XML", "{}", 1, 3],
    ["a number", 1 as unknown as string, 1, 1],
    ["another document", "\n  <network/>", 2, 13],
    ["a tag that is not closed", "<domain>\n  <name>a</name>\n", 3, 1],
    ["overlapping tags", "<domain>\n<a><b></a></b></domain>", 2, 11],
    ["two roots", "<domain/>\n<domain/>", 2, 9],
    ["a repeated attribute", '<domain a="1" a="2"/>', 1, 22],
    ["an entity that XML does not define", "<domain>\n<name>&nbsp;</name></domain>", 2, 13],
    ["a control character", "<domain>\u0001</domain>", 1, 10],
    ["a reference to a control character", "<domain>&#0;</domain>", 1, 13],
    ["entities within entities", laughs, 1, 533],
    [
      "a file on the host",
      '<!DOCTYPE d [<!ENTITY f SYSTEM "file:///etc/passwd">]><domain>&f;</domain>',
      1,
      55,
    ],
    ["half a character", "<domain>\n\ud800</domain>", 2, 1],
    ["a string instead of a number", "<domain>\n <memory>lots</memory></domain>", 2, 10],
    ["a name with two prefixes", "<domain><a:b:c/></domain>", 1, 17],
    ["depth 257", nested(257), 1, 2057],
  ])("%s, with line and column", (_what, xml, line, column) => {
    expect(() => parseDomain(xml)).toThrow(
      expect.objectContaining({ code: "CONVERTER_XML_MALFORMED", line, column }),
    );
  });

  test("depth 10 000, 50 MiB and a million attributes, before they cost anything", () => {
    expect(outcome(nested(256))).toBe("read");
    expect(outcome(nested(10_000))).toBe("refused");
    expect(outcome(`<domain><name>${"x".repeat(50 * 2 ** 20)}</name></domain>`)).toBe("refused");
    expect(outcome(`<domain>${"<a/>".repeat(300_000)}</domain>`)).toBe("refused");
    const attributes = Array.from({ length: 250_000 }, (_, at) => `a${at}=""`).join(" ");
    expect(outcome(`<domain ${attributes}/>`)).toBe("refused");
  });

  test("every truncation of a document", () => {
    const end = liveDump.trimEnd().length;
    for (let length = 0; length < end; length += 13) {
      expect(outcome(liveDump.slice(0, length))).toBe("refused");
    }
  });
});

const damage = fc.tuple(
  fc.nat({ max: liveDump.length }),
  fc.nat({ max: 8 }),
  fc.oneof(
    fc.constantFrom("<", ">", "&", '"', "'", "]]>", "<!--", "<![CDATA[", "<?x", "</", "/>", "\0"),
    fc.constantFrom("&#x110000;", "\ud800", " a='", "<domain>", "é", "-1", "1e9", ""),
    fc.string({ maxLength: 6 }),
  ),
);

const damaged = fc.array(damage, { minLength: 1, maxLength: 4 }).map((places) => {
  let xml = liveDump;
  for (const [at, gone, text] of places) xml = xml.slice(0, at) + text + xml.slice(at + gone);
  return xml;
});

describe("parseDomain, on damaged documents", () => {
  const endsWell = (parse?: (xml: string) => unknown) =>
    fc.property(damaged, (xml) => ["read", "refused"].includes(outcome(xml, parse)));

  test("gives a domain that can be written, or an error with a place", () => {
    fc.assert(endsWell(), { numRuns: 300 });
  });

  test("control: the attack finds a parser that trusts its input", () => {
    // It reads quotes in pairs, and runs past the end of a document with an odd number.
    const trusting = (xml: string): unknown => {
      const quotes = [...xml.matchAll(/["']/g)];
      for (let at = 0; at < quotes.length; at += 2) (quotes[at + 1] as RegExpExecArray).index;
      return parseDomain(xml);
    };
    expect(fc.check(endsWell(trusting), { numRuns: 300 }).failed).toBe(true);
  });
});
