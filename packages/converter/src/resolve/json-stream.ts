/**
 * The JSON objects in text that has one after another, with or without white space between them. Each is read on
 * demand.
 *
 * @throws SyntaxError if the text contains anything else.
 */
export function* jsonStream(text: string): Generator<unknown, void> {
  let start = 0;
  while (start < text.length) {
    if (/\s/.test(text.charAt(start))) {
      start++;
      continue;
    }
    const end = endOfObject(text, start);
    yield JSON.parse(text.slice(start, end));
    start = end;
  }
}

/** Where an object that begins here ends; the end of the text if it does not. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') at = endOfString(text, at);
    if (character === "{") depth++;
    if (character === "}" && --depth === 0) return at + 1;
  }
  return text.length;
}

/** Where the quote is that ends a string; the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text.charAt(at) === "\\") at++;
    else if (text.charAt(at) === '"') return at;
  }
  return text.length;
}
