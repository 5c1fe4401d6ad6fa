import { resolve } from "node:path";
import { UsageError } from "../usage-error.ts";

/** Disk images by name, from options `NAME=PATH`; the last one of a name counts. */
export function parseImages(
  options: readonly string[],
  option: "--image" | "--pvc" = "--image",
): Record<string, string> {
  return Object.fromEntries(
    options.map((text) => {
      const at = text.indexOf("=");
      if (at > 0 && at < text.length - 1) return [text.slice(0, at), resolve(text.slice(at + 1))];
      throw new UsageError(`${option} ${text}: use NAME=PATH, with the name from the manifest`);
    }),
  );
}
