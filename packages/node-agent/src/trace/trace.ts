import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { wallTime } from "@virtkit/api/clock";
import { isStage, type Stage, type TraceEntry } from "@virtkit/api/timeline";
import { makeDirectoryDurably } from "@virtkit/host-primitives/durable";
import { checkUid } from "../check-uid.ts";

/** An entry with everything that {@link Trace.note} adds. */
export type TraceNote = Required<Omit<TraceEntry, "message">> & Pick<TraceEntry, "message">;

const states = ["done", "waiting", "failed"] as const;
/** A guest passes a dozen stages; more than this is an endless loop. */
const mostBytes = 1024 * 1024;
const mostMessage = 4096;

function fileOf(stateDirectory: string, vmiUid: string): string {
  return join(stateDirectory, "traces", `${checkUid(vmiUid, "vmiUid")}.jsonl`);
}

/**
 * What happened to a VMI on this node, and when: a file of JSON lines that only grows, and that
 * `handoffs` of `@virtkit/api/timeline` reads. Several processes may write to one trace.
 *
 * @example
 * const trace = new Trace(stateDirectory, vmiUid);
 * trace.note({ stage: "network-bound" });
 * handoffs({ vmi, trace: readTrace(stateDirectory, vmiUid) });
 */
export class Trace {
  readonly #file: string;
  readonly #now: () => Date;
  readonly #last = new Map<Stage, string>();

  constructor(stateDirectory: string, vmiUid: string, now: () => Date = wallTime) {
    this.#file = fileOf(stateDirectory, vmiUid);
    this.#now = now;
    makeDirectoryDurably(join(stateDirectory, "traces"));
    for (const entry of readTrace(stateDirectory, vmiUid)) this.#last.set(entry.stage, key(entry));
  }

  /**
   * Writes one entry; without a time, now. The last entry of a stage is not repeated, so that a waiting caller may
   * note it each time. A trace of 1 MiB accepts no more.
   */
  note({ stage, state = "done", message, at = this.#now().toISOString() }: TraceEntry): void {
    const text = message === undefined ? {} : { message: message.slice(0, mostMessage) };
    const entry: TraceNote = { stage, at, state, ...text };
    if (this.#last.get(stage) === key(entry)) return;
    if (size(this.#file) > mostBytes) return;
    const fd = openSync(this.#file, "a", 0o600);
    try {
      // A line feed in front: a line that a crash has truncated stays separate.
      writeSync(fd, `${size(this.#file) > 0 ? "\n" : ""}${JSON.stringify(entry)}`);
    } finally {
      closeSync(fd);
    }
    this.#last.set(stage, key(entry));
  }
}

/** All entries in the order in which they were written. Invalid lines are skipped. */
export function readTrace(stateDirectory: string, vmiUid: string): readonly TraceNote[] {
  let text: string;
  try {
    text = readFileSync(fileOf(stateDirectory, vmiUid), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  return text.split("\n").flatMap((line) => {
    const entry = parseEntry(line);
    return entry ? [entry] : [];
  });
}

/** Removes a trace; does nothing if there is none. */
export function removeTrace(stateDirectory: string, vmiUid: string): void {
  rmSync(fileOf(stateDirectory, vmiUid), { force: true });
}

function parseEntry(line: string): TraceNote | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // A line that a crash has truncated.
    return undefined;
  }
  const { stage, at, state, message } = Object(value) as Record<keyof TraceNote, unknown>;
  const valid = isStage(stage) && states.some((known) => known === state) && typeof at === "string";
  if (!valid || (message !== undefined && typeof message !== "string")) return undefined;
  return value as TraceNote;
}

function key({ state = "done", message = "" }: TraceEntry): string {
  return `${state} ${message}`;
}

function size(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
