import type { NetworkMode } from "@virtkit/local";
import { UsageError } from "../usage-error.ts";

/** Reads `--network`. */
export function parseNetwork(text = "isolated"): NetworkMode {
  if (text === "isolated" || text === "open") return text;
  throw new UsageError(`--network ${text}: use isolated or open`);
}
