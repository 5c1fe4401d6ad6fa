import { stageFacts, type TraceEntry } from "@virtkit/api/timeline";
import { plain } from "./plain.ts";

const width = 15;

/** One line per handoff, with the seconds since the start: for a person who waits, and for a log. */
export class ProgressLines {
  readonly #start: number;
  readonly #write: (line: string) => void;

  constructor(start: number, write: (line: string) => void) {
    this.#start = start;
    this.#write = write;
  }

  /** Reports a handoff that has happened or failed; waiting is not reported. */
  tell({ stage, state = "done", at, message }: TraceEntry): void {
    if (state === "waiting") return;
    const time = seconds((at === undefined ? Date.now() : Date.parse(at)) - this.#start);
    const what =
      state === "failed"
        ? `FAILED: ${plain(message ?? "no reason was given")}`
        : stageFacts[stage].label;
    this.#write(`${time}  ${stage.padEnd(width)}  ${what}`);
  }
}

/** How long a whole start took: each handoff with its time from the start and from the previous one. */
export function timeline(entries: readonly TraceEntry[], start: number): string {
  let before = start;
  const rows = entries
    .filter(({ state = "done", at }) => state === "done" && at !== undefined)
    .map(({ stage, at = "" }) => ({ stage, time: Date.parse(at) }))
    .sort((a, b) => a.time - b.time)
    .map(({ stage, time }) => {
      const step = time - before;
      before = time;
      return `  ${stage.padEnd(width)}  ${seconds(time - start)}  ${`+${(step / 1000).toFixed(2)}`.padStart(7)} s  ${stageFacts[stage].by}`;
    });
  return rows.join("\n");
}

function seconds(milliseconds: number): string {
  return `${(Math.max(milliseconds, 0) / 1000).toFixed(2).padStart(7)} s`;
}
