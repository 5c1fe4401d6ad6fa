import type { ColouredToken } from "./coloured.ts";

const string = /"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?/y;
const key = /[^\s"'#&*!|>%@`,[\]{}:-][^\s:,[\]{}]*(?=\s*:(?:\s|$))/y;
const number =
  /(?:[-+]?(?:0x[\da-f]+|\d[\d_]*(?:\.\d+)?(?:e[-+]?\d+)?)|true|false|null|~)(?=\s*(?:$|[,\]}]|\s#))/iy;
const comment = /#.*/y;
const plain = /[^\s"'#,[\]{}:]+|./y;
const blockStart = /(?:^|[\s:-])[|>][-+\d]*\s*(?:#.*)?$/;

/**
 * The lines of a YAML text in coloured pieces. Line by line and for the eye only: the parser decides what the
 * text means. The joined pieces are the text.
 */
export function yamlTokens(text: string): ColouredToken[][] {
  /** Indent of the line that began a block of text; deeper lines belong to it. */
  let block: number | undefined;
  return text.split("\n").map((line) => {
    const indent = line.search(/\S/);
    if (block !== undefined && (indent === -1 || indent > block)) {
      return [{ text: line, kind: "string" }];
    }
    block = blockStart.test(line) ? Math.max(indent, 0) : undefined;
    return lineTokens(line);
  });
}

function lineTokens(line: string): ColouredToken[] {
  const tokens: ColouredToken[] = [];
  let at = 0;
  while (at < line.length) {
    const token = tokenAt(line, at);
    tokens.push(token);
    at += token.text.length;
  }
  return tokens;
}

function tokenAt(line: string, at: number): ColouredToken {
  const read = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(line)?.[0];
  };
  // A sign in the middle of a word begins nothing.
  const isStart = at === 0 || /[\s,[\]{}:]/.test(line[at - 1] ?? "");
  if (isStart) {
    const comments = read(comment);
    if (comments !== undefined) return { text: comments, kind: "comment" };
    const quoted = read(string);
    if (quoted !== undefined) {
      const isKey = /^\s*:(?:\s|$)/.test(line.slice(at + quoted.length));
      return { text: quoted, kind: isKey ? "key" : "string" };
    }
    const name = read(key);
    if (name !== undefined) return { text: name, kind: "key" };
    const value = read(number);
    if (value !== undefined) return { text: value, kind: "number" };
  }
  return { text: read(plain) ?? line.slice(at) };
}
