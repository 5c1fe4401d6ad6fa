/// <reference lib="dom" />
import { element } from "./dom.ts";

/** A piece of text, and what it is. */
export interface ColouredToken {
  readonly text: string;
  readonly kind?: "key" | "string" | "number" | "comment" | undefined;
}

/** The pieces as elements; the style sheet has their colours. */
export function coloured(tokens: readonly ColouredToken[]): (Node | string)[] {
  return tokens.map(({ text, kind }) => (kind ? element("span", { class: kind }, text) : text));
}
