import type { Readable } from "node:stream";

/** A request's body as text; undefined if it is longer than the limit, and then no more of it is read. */
export async function readBody(request: Readable, limit: number): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += (part as Buffer).length;
    if (length > limit) return undefined;
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString("utf8");
}
