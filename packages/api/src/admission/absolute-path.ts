import { type Cause, fine, invalid, quote } from "./cause.ts";

/** A path to a file in an image: absolute, no `.`, `..` or empty part; one `/` at the end is forgiven. */
export function absolutePath(
  path: string,
  field: string,
  subject: string = field,
): readonly Cause[] {
  if (path === "/") return invalid(field, "is the root directory; name a file", subject);
  const parts = path.replace(/\/$/, "").split("/");
  const clean = parts.shift() === "" && parts.length > 0 && parts.every(isPlain);
  if (clean) return fine;
  return invalid(field, `is ${quote(path)}; use an absolute path without . and ..`, subject);
}

function isPlain(part: string): boolean {
  return part !== "" && part !== "." && part !== "..";
}
