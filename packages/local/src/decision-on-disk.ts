import type { Outcome } from "@virtkit/api/grant";
import { isHostError } from "@virtkit/host-primitives";
import { openRoot } from "@virtkit/host-primitives/safe-path";
import { localNames } from "./local-names.ts";
import type { VmiMove } from "./move-file.ts";

/** Where the launcher's own folder is, below its Pod's. */
const folder = "volumes/kubernetes.io~empty-dir/private/migrations";
const maxBytes = 4_096;
const outcomes: readonly Outcome[] = ["released", "aborted", "committed", "returned"];

/**
 * What an ended launcher had decided about a move; undefined if nothing. The folder belonged to the
 * launcher: no link in it is followed, and reads are bounded.
 */
export function readDecision(
  stateDirectory: string,
  { source, migrationUID }: Pick<VmiMove, "source" | "migrationUID">,
): Outcome | undefined {
  let found: Outcome | undefined;
  for (const number of [1, 2]) {
    const text = readText(stateDirectory, source, `${migrationUID}/decision.${number}.json`);
    if (text === undefined) return found;
    found = outcomeIn(text, migrationUID) ?? found;
  }
  return found;
}

function outcomeIn(text: string, migrationUID: string): Outcome | undefined {
  try {
    const value = Object(JSON.parse(text)) as Record<string, unknown>;
    if (value["migrationUID"] !== migrationUID) return undefined;
    return outcomes.find((outcome) => outcome === value["outcome"]);
  } catch {
    // An unreadable decision is none: it releases nothing.
    return undefined;
  }
}

function readText(stateDirectory: string, podUid: string, name: string): string | undefined {
  try {
    using root = openRoot(localNames(stateDirectory, podUid).directory);
    using file = root.resolve(`${folder}/${name}`, "file");
    return file.read({ maxBytes }).toString("utf8");
  } catch (error) {
    if (isHostError(error)) return undefined;
    throw error;
  }
}
