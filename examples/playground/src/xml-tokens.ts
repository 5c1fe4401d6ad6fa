import type { ColouredToken } from "./coloured.ts";

const pieces = /(<\/?[\w:.-]+)|("[^"]*")|[^<"]+|./g;

/** A piece of XML as our writer makes it, in colours: names of elements, and values of attributes. */
export function xmlTokens(text: string): ColouredToken[] {
  return Array.from(text.matchAll(pieces), ([piece, tag, value]) => ({
    text: piece,
    kind: tag === undefined ? (value === undefined ? undefined : "string") : "key",
  }));
}
