import type { Readable } from "node:stream";

/** A line without its end, or the limit that it went over. */
export type Line = { readonly text: string } | { readonly tooLong: number };

const lineFeed = 0x0a;

/**
 * Splits a byte stream at line feeds. Never holds more than `maxLineBytes` of a line: the rest of a longer one
 * is dropped and the line is returned as `tooLong`. A last line needs no line feed.
 */
export async function* readLines(input: Readable, maxLineBytes: number): AsyncIterable<Line> {
  let parts: Buffer[] = [];
  let size = 0;
  const take = (): Line => {
    const line: Line =
      size > maxLineBytes
        ? { tooLong: maxLineBytes }
        : { text: Buffer.concat(parts).toString("utf8").replace(/\r$/, "") };
    parts = [];
    size = 0;
    return line;
  };
  const add = (part: Buffer): void => {
    size += part.length;
    if (size <= maxLineBytes) parts.push(part);
    else parts = [];
  };
  for await (const data of input) {
    const chunk = typeof data === "string" ? Buffer.from(data) : (data as Buffer);
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      add(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    add(chunk.subarray(start));
  }
  if (size > 0) yield take();
}
