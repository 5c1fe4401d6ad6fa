import { createHash } from "node:crypto";

/**
 * A name that is always the same for the same parts, and different for others, so that creating an object twice
 * gives `AlreadyExists` instead of a second object. A lower-case DNS label of at most 63 characters that begins
 * with as much of the prefix as fits.
 */
export function deterministicName(prefix: string, ...parts: readonly string[]): string {
  // As JSON, so that no two lists of parts look alike.
  const hash = createHash("sha256")
    .update(JSON.stringify([prefix, ...parts]))
    .digest("hex");
  const suffix = hash.slice(0, 10);
  const start = prefix
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 63 - suffix.length - 1)
    .replace(/-+$/, "");
  return start === "" ? `x${suffix}` : `${start}-${suffix}`;
}
