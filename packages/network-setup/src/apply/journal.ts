import { readFileSync } from "node:fs";
import { join } from "node:path";
import { removeDurably, writeDurably } from "@virtkit/host-primitives/durable";
import { NetworkSetupError } from "../network-setup-error.ts";
import type { NetworkPlan } from "../plan/plan-binding.ts";
import type { PodNetworkState } from "./discover.ts";

/** A plan and its progress. */
export interface JournalEntry {
  /** `undoing`: the next process that finds it continues to undo, and never wires what is half undone. */
  readonly state: "applying" | "applied" | "undoing";
  /** The namespace before the first step. */
  readonly found: PodNetworkState;
  readonly plan: NetworkPlan;
}

/**
 * A record on disk of what was done to a Pod's network. It survives the process and a crash of the
 * host.
 */
export interface Journal {
  /** In the order in which the plans were made; empty if nothing was done. */
  read(): readonly JournalEntry[];
  /** On disk when it returns. */
  write(entries: readonly JournalEntry[]): void;
  /** Gone for good when it returns. */
  remove(): void;
}

const version = 1;
const maxBytes = 8 << 20;

/**
 * The journal of one Pod, a file in a directory of the node. Throws a {@link NetworkSetupError} on
 * an invalid UID, and on reading a file that is not a journal: that file is left for people to
 * inspect.
 */
export function openJournal(directory: string, podUid: string): Journal {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(podUid)) {
    const message = `${JSON.stringify(podUid)} is not a UID of a Pod`;
    throw new NetworkSetupError("NETWORK_JOURNAL_INVALID", message, { path: "podUid" });
  }
  const file = join(directory, `${podUid}.json`);
  return {
    read: () => readEntries(file),
    write: (entries) => writeDurably(file, JSON.stringify({ version, podUid, entries })),
    remove: () => removeDurably(file),
  };
}

function readEntries(file: string): readonly JournalEntry[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw invalid(file, "cannot be read", error);
  }
  if (text.length > maxBytes) throw invalid(file, `is over ${maxBytes} bytes long`);
  try {
    const value = JSON.parse(text) as { version?: unknown; entries?: unknown };
    if (value.version === version && Array.isArray(value.entries)) return value.entries;
  } catch (error) {
    throw invalid(file, "is not JSON", error);
  }
  throw invalid(file, `does not have version ${version}`);
}

function invalid(file: string, what: string, cause?: unknown): NetworkSetupError {
  const message = `the journal ${file} ${what}; check the Pod's network by hand, then remove the file`;
  return new NetworkSetupError("NETWORK_JOURNAL_INVALID", message, { path: file, cause });
}
