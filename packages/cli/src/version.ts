import { readFileSync } from "node:fs";

/** The version of this package, from its own package.json. */
export function version(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
