import { readXmlTree } from "@virtkit/conformance/recorded";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { xmlText } from "../testing/arbitrary-domain.ts";
import { escapeAttribute, escapeText, XmlCharacterError } from "./escape-xml.ts";

/** What a parser reads from an escaped value, as an attribute and as a text. */
function readBack(attribute: string, text: string): [string | undefined, string] {
  const { attributes, text: content } = readXmlTree(`<a b="${attribute}">${text}</a>`);
  return [attributes["b"], content];
}

describe("escaping", () => {
  test.each([
    ["a&b", "a&amp;b", "a&amp;b"],
    ["&amp;", "&amp;amp;", "&amp;amp;"],
    ["<x>", "&lt;x&gt;", "&lt;x&gt;"],
    [`"'`, "&quot;'", `"'`],
    ["a\nb\tc", "a&#10;b&#9;c", "a\nb\tc"],
    ["\r\n", "&#13;&#10;", "&#13;\n"],
    ["]]>", "]]&gt;", "]]&gt;"],
    ["grün 😀", "grün 😀", "grün 😀"],
    ["", "", ""],
  ])("of %j is %j in an attribute and %j in text", (value, attribute, text) => {
    expect(escapeAttribute(value)).toBe(attribute);
    expect(escapeText(value)).toBe(text);
  });

  test.each(["\0", "a\u001f", "\u000b", "\ud800", "\udc00x", "\ud800\ud800", "\ufffe", "\uffff"])(
    "refuses %j, which XML cannot contain",
    (value) => {
      expect(() => escapeAttribute(value)).toThrow(XmlCharacterError);
      expect(() => escapeText(value)).toThrow(XmlCharacterError);
    },
  );

  test("survives a parser, whatever the text", () => {
    fc.assert(
      fc.property(xmlText, (value) => {
        expect(readBack(escapeAttribute(value), escapeText(value))).toEqual([value, value]);
      }),
    );
  });

  test("control: the same attack finds an escape that forgets one character", () => {
    const forgetful = (value: string): string => escapeAttribute(value).replaceAll("&#10;", "\n");
    const attack = fc.check(
      fc.property(xmlText, (value) => readBack(forgetful(value), "")[0] === value),
    );
    expect(attack.failed).toBe(true);
  });
});
