import { dirname } from "node:path";
import { HostError } from "../host-error.ts";
import { type FileCalls, nodeFiles } from "./file-calls.ts";
import { makeDirectoryDurably, syncDirectory, writeWhole } from "./write-durably.ts";

/** State of a step. `doing` and `undoing` are written before the kernel is asked. */
export type StepState = "doing" | "done" | "undoing";

/** What the journal knows about one step. */
export interface StepRecord {
  /** Identifies the step; unique in the journal. Include a Pod UID or migration UID. */
  readonly id: string;
  readonly state: StepState;
  /** Whatever is needed to find the result of the step again. Plain data. */
  readonly details: unknown;
}

const version = 1;

type Line =
  | {
      readonly v: number;
      readonly id: string;
      readonly state: StepState;
      readonly details?: unknown;
    }
  | { readonly v: number; readonly id: string; readonly state: "gone" };

/**
 * A write-ahead journal: each step is on disk before the kernel is asked for it, so a restarted
 * agent knows everything that its predecessor did or was about to do.
 *
 * Each change appends and syncs one line of JSON. A last line that a crash cut short is dropped,
 * because its step never began. Any other damage throws `HOST_JOURNAL_CORRUPT`, because silently
 * forgetting a step would leak what it created. The directory belongs to the agent and is trusted.
 */
export class StepJournal implements Disposable {
  readonly #path: string;
  readonly #files: FileCalls;
  readonly #records = new Map<string, StepRecord>();
  #fd: number;
  #lines = 0;
  /** The file ends with an incomplete write: nothing may be appended to that. */
  #torn = false;

  constructor(path: string, files: FileCalls = nodeFiles) {
    this.#path = path;
    this.#files = files;
    try {
      makeDirectoryDurably(dirname(path), files);
      this.#load();
      this.#fd = this.#rewrite();
    } catch (error) {
      throw HostError.from(error, path);
    }
  }

  /** Every step that began and is not known to be undone. */
  records(): readonly StepRecord[] {
    return [...this.#records.values()];
  }

  /** Call before the step. The same ID again replaces the details. */
  begin(id: string, details: unknown): void {
    this.#append({ v: version, id, state: "doing", details });
  }

  /** Call after the step. */
  finish(id: string): void {
    this.#append({ v: version, id, state: "done", details: this.#need(id).details });
  }

  /** Call before undoing it. */
  beginUndo(id: string): void {
    this.#append({ v: version, id, state: "undoing", details: this.#need(id).details });
  }

  /**
   * Call after undoing it, or after giving up a step that never happened. Unknown IDs are ignored.
   */
  forget(id: string): void {
    if (this.#records.has(id)) this.#append({ v: version, id, state: "gone" });
  }

  close(): void {
    if (this.#fd >= 0) this.#files.close(this.#fd);
    this.#fd = -1;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #need(id: string): StepRecord {
    const record = this.#records.get(id);
    if (record) return record;
    const message = `the journal has no step ${JSON.stringify(id)}; begin it first`;
    throw new HostError("HOST_ARGUMENT_INVALID", message, { path: "id" });
  }

  #append(line: Line): void {
    if (this.#fd < 0) throw new HostError("HOST_CLOSED", `the journal ${this.#path} is closed`);
    try {
      if (this.#torn || this.#lines > 64 + 4 * this.#records.size) {
        const old = this.#fd;
        this.#fd = this.#rewrite();
        this.#files.close(old);
      }
      this.#torn = true;
      writeWhole(this.#fd, `${JSON.stringify(line)}\n`, this.#files);
      this.#files.sync(this.#fd);
      this.#torn = false;
      this.#lines++;
      this.#apply(line);
    } catch (error) {
      throw HostError.from(error, this.#path);
    }
  }

  #apply(line: Line): void {
    if (line.state === "gone") this.#records.delete(line.id);
    else this.#records.set(line.id, { id: line.id, state: line.state, details: line.details });
  }

  #load(): void {
    let text: string;
    try {
      text = this.#files.read(this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      throw error;
    }
    const lines = text.split("\n");
    // The last piece has no line feed: it is empty, or a step that never began.
    lines.pop();
    for (const [index, line] of lines.entries())
      this.#apply(parseLine(line, `${this.#path}:${index + 1}`));
  }

  /**
   * Writes only the current steps to a new file, replaces the old one with it and keeps it open.
   */
  #rewrite(): number {
    const files = this.#files;
    const fresh = `${this.#path}.new`;
    const fd = files.open(fresh, "w");
    try {
      const lines = this.records().map(
        (record) => `${JSON.stringify({ v: version, ...record })}\n`,
      );
      writeWhole(fd, lines.join(""), files);
      files.sync(fd);
      files.rename(fresh, this.#path);
      syncDirectory(dirname(this.#path), files);
    } catch (error) {
      files.close(fd);
      throw error;
    }
    this.#torn = false;
    this.#lines = this.#records.size;
    return fd;
  }
}

const states: readonly unknown[] = ["doing", "done", "undoing", "gone"];

function parseLine(text: string, place: string): Line {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch (cause) {
    throw corrupt(place, "is not JSON", cause);
  }
  const { v, id, state } = Object(line) as Record<string, unknown>;
  if (v !== version) throw corrupt(place, `has version ${String(v)}; this agent knows ${version}`);
  if (typeof id !== "string" || !states.includes(state)) throw corrupt(place, "is not a step");
  return line as Line;
}

function corrupt(place: string, problem: string, cause?: unknown): HostError {
  const message = `${place} ${problem}; compare the journal with what is on the node before removing it`;
  return new HostError("HOST_JOURNAL_CORRUPT", message, { path: place, cause });
}
