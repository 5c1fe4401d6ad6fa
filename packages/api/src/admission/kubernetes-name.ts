/**
 * The name rules of Kubernetes' API machinery. Each function returns one string per fault, in Kubernetes'
 * order, because each becomes a cause; an empty list means valid.
 */

const nothingWrong: readonly string[] = [];

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedPart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const portCharacters = /^[-a-z0-9]+$/;

/** The maximum length in octets, as in Kubernetes. */
const limits = { label: 63, subdomain: 253, qualifiedPart: 63, portName: 15 } as const;

/**
 * Whether the text is longer than the limit in UTF-8 octets. A text with more UTF-16 units than the limit has
 * more octets, too, so a huge one is never encoded.
 */
function tooLong(text: string, limit: number): boolean {
  if (text.length > limit) return true;
  return text.length * 3 > limit && utf8Length(text) > limit;
}

/** Length of a string in UTF-8 octets; a lone surrogate counts as its replacement character. */
export function utf8Length(text: string): number {
  let octets = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    octets += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return octets;
}

function matches(pattern: RegExp, text: string, limit: number): boolean {
  // The patterns backtrack, so text far over the limit is not matched.
  return text.length <= limit * 8 && pattern.test(text);
}

/** RFC 1123 label: the rule for container and host names. */
export function dnsLabelProblems(text: string): readonly string[] {
  const long = tooLong(text, limits.label);
  const wellFormed = matches(label, text, limits.label);
  if (!long && wellFormed) return nothingWrong;
  const problems: string[] = [];
  if (long) problems.push("has more than 63 characters; shorten it");
  if (!wellFormed) {
    problems.push(
      "must be a DNS label: lower-case letters, digits and '-', beginning and ending with a letter or digit",
    );
  }
  return problems;
}

/** RFC 1123 subdomain: DNS labels joined by dots. */
export function dnsSubdomainProblems(text: string): readonly string[] {
  const long = tooLong(text, limits.subdomain);
  const wellFormed = matches(subdomain, text, limits.subdomain);
  if (!long && wellFormed) return nothingWrong;
  const problems: string[] = [];
  if (long) problems.push("has more than 253 characters; shorten it");
  if (!wellFormed) {
    problems.push(
      "must be a DNS name: lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",
    );
  }
  return problems;
}

/** The rule for label and annotation keys: a name, optionally preceded by a DNS name and '/'. */
export function qualifiedNameProblems(text: string): readonly string[] {
  const parts = text.split("/", 3);
  if (parts.length > 2) return ["must have at most one '/'"];
  const name = parts.at(-1) ?? "";
  const problems: string[] = parts.length === 2 ? prefixProblems(parts[0] ?? "") : [];
  if (name === "") problems.push("must have a name that is not empty");
  else if (tooLong(name, limits.qualifiedPart))
    problems.push("has a name of more than 63 characters");
  if (!matches(qualifiedPart, name, limits.qualifiedPart)) {
    problems.push(
      "must have a name of letters, digits, '-', '_' and '.', beginning and ending with a letter or digit",
    );
  }
  return problems;
}

function prefixProblems(prefix: string): string[] {
  if (prefix === "") return ["must have a DNS name before the '/'"];
  return dnsSubdomainProblems(prefix).map((problem) => `(before '/') ${problem}`);
}

/** The rule for label values; empty is valid. */
export function labelValueProblems(text: string): readonly string[] {
  const long = tooLong(text, limits.qualifiedPart);
  const wellFormed = text === "" || matches(qualifiedPart, text, limits.qualifiedPart);
  if (!long && wellFormed) return nothingWrong;
  const problems: string[] = [];
  if (long) problems.push("has more than 63 characters; shorten it");
  if (!wellFormed) {
    problems.push(
      "must be empty, or letters, digits, '-', '_' and '.', beginning and ending with a letter or digit",
    );
  }
  return problems;
}

/** Whether the text is an IANA service name, the rule for port names. */
export function isPortName(text: string): boolean {
  return (
    text.length <= limits.portName &&
    portCharacters.test(text) &&
    /[a-z]/.test(text) &&
    !text.includes("--") &&
    !text.startsWith("-") &&
    !text.endsWith("-")
  );
}
