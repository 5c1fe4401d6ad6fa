import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** How long a launcher outlives a starter that was killed before it had a guest. */
export const startTimeoutSeconds = 300;

/** The launcher of this release. */
export function launcherProgram(): string {
  const { resolve } = createRequire(import.meta.url);
  return join(dirname(resolve("@virtkit/launcher/package.json")), "bin/virtkit-launcher.js");
}
