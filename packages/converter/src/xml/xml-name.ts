// NameStartChar and NameChar of XML 1.0, fifth edition, without the colon, which is for prefixes.
const start =
  "A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}" +
  "\\u{200C}-\\u{200D}\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}" +
  "\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}";
const part = `[${start}][${start}.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}-\\u{2040}-]*`;
const namePattern = new RegExp(`^${part}(?::${part})?$`, "u");

/** Whether a string can name an element or attribute: an XML name with at most one prefix. */
export function isXmlName(name: string): boolean {
  return namePattern.test(name);
}
