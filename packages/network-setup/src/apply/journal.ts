import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { NetworkSetupError } from "../network-setup-error.ts";
import type { NetworkPlan } from "../plan/plan-binding.ts";
import type { PodNetworkState } from "./discover.ts";

/** A plan and how far it is. */
export interface JournalEntry {
  /** `undoing`: whoever finds it goes on with that, and never wires what is half undone. */
  readonly state: "applying" | "applied" | "undoing";
  /** The namespace before the first step. */
  readonly found: PodNetworkState;
  readonly plan: NetworkPlan;
}

/** What was done to a Pod's network, on disk: it survives the process and the machine's crash. */
export interface Journal {
  /** In the order in which the plans were made; empty where nothing was done. */
  read(): readonly JournalEntry[];
  /** On disk when it returns. */
  write(entries: readonly JournalEntry[]): void;
  remove(): void;
}

const version = 1;
const maxBytes = 8 << 20;

/**
 * The journal of one Pod, a file in a directory of the node. Throws a {@link NetworkSetupError} on a
 * UID that is none, and when a file is read that is no journal: it is left for people to look at.
 */
export function openJournal(directory: string, podUid: string): Journal {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(podUid)) {
    const message = `${JSON.stringify(podUid)} is no UID of a Pod`;
    throw new NetworkSetupError("NETWORK_JOURNAL_INVALID", message, { path: "podUid" });
  }
  const file = join(directory, `${podUid}.json`);
  return {
    read: () => readEntries(file),
    write(entries) {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeDurably(file, JSON.stringify({ version, podUid, entries }));
      flushDirectory(directory);
    },
    remove: () => rmSync(file, { force: true }),
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
  if (text.length > maxBytes) throw invalid(file, `has over ${maxBytes} bytes`);
  try {
    const value = JSON.parse(text) as { version?: unknown; entries?: unknown };
    if (value.version === version && Array.isArray(value.entries)) return value.entries;
  } catch (error) {
    throw invalid(file, "is no JSON", error);
  }
  throw invalid(file, `is not of version ${version}`);
}

/** A new file takes the old one's place when it is whole on disk: a crash leaves one or the other. */
function writeDurably(file: string, text: string): void {
  const fresh = `${file}.new`;
  const fd = openSync(fresh, "w", 0o600);
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(fresh, file);
}

function flushDirectory(directory: string): void {
  const fd = openSync(directory, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function invalid(file: string, what: string, cause?: unknown): NetworkSetupError {
  const message = `the journal ${file} ${what}; look at the Pod's network by hand, then remove the file`;
  return new NetworkSetupError("NETWORK_JOURNAL_INVALID", message, { path: file, cause });
}
