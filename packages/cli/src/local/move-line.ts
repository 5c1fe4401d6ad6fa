import type { MigrationReport } from "@virtkit/local";

type Progress = NonNullable<MigrationReport["progress"]>;

const cells = 24;

/** What a moving guest is doing, in a few words. */
const phases: Readonly<Record<Progress["phase"], string>> = {
  setup: "connecting",
  disks: "copying disks",
  memory: "copying memory",
  paused: "guest paused, sending the rest",
  postcopy: "runs there, fetching memory",
};

/** One line for a move in progress: bar, share, rate, what remains, and when it is expected to end. */
export function moveLine(progress: Progress): string {
  const { phase, total, remaining, bytesPerSecond, elapsedMs, expectedEndMs } = progress;
  const part = total > 0 ? Math.min(1, Math.max(0, 1 - remaining / total)) : 0;
  const full = Math.round(part * cells);
  const bar = `[${"#".repeat(full)}${".".repeat(cells - full)}]`;
  const percent = `${Math.floor(part * 100)}`.padStart(3);
  const figures = [
    phases[phase],
    `${megabytes(bytesPerSecond)} MB/s`,
    `${megabytes(remaining)} MB left`,
    ...(expectedEndMs === undefined
      ? []
      : [`about ${Math.max(0, (expectedEndMs - elapsedMs) / 1000).toFixed(1)} s to go`]),
    ...(progress.iteration > 1 ? [`round ${progress.iteration}`] : []),
    ...(progress.throttlePercent > 0 ? [`guest slowed by ${progress.throttlePercent} %`] : []),
  ];
  return `${bar} ${percent} %  ${figures.join(", ")}`;
}

/** A line for each disk that is copied; none before its size is known. */
export function diskLines({ disks = [] }: Progress): readonly string[] {
  return disks.map(({ target, total, remaining }) => {
    const done = total > 0 ? Math.floor((1 - remaining / total) * 100) : 0;
    return `  ${target}: ${done} % of ${megabytes(total)} MB`;
  });
}

/** Bytes as a person reads them beside `MB`. */
export function megabytes(bytes: number): string {
  const amount = bytes / 1e6;
  return amount >= 100 ? amount.toFixed(0) : amount.toFixed(1);
}

/** How often a line is written if the output is not a terminal. */
const plainInterval = 1_000;

/** Shows a move: one line that is overwritten on a terminal, one line per second in a log. */
export class MoveDisplay {
  readonly #write: (text: string) => void;
  readonly #isTerminal: boolean;
  #shownAt = Number.NEGATIVE_INFINITY;
  #phase = "";
  #isOpen = false;

  constructor(write: (text: string) => void, isTerminal: boolean) {
    this.#write = write;
    this.#isTerminal = isTerminal;
  }

  show({ progress }: { readonly progress?: Progress | undefined }): void {
    if (!progress) return;
    if (this.#isTerminal) {
      this.#isOpen = true;
      this.#write(`\r\u001b[K${moveLine(progress)}`);
      return;
    }
    const { elapsedMs, phase } = progress;
    if (phase === this.#phase && elapsedMs - this.#shownAt < plainInterval) return;
    this.#phase = phase;
    this.#shownAt = elapsedMs;
    this.#write(`${[moveLine(progress), ...diskLines(progress)].join("\n")}\n`);
  }

  /** What follows begins on a new line. */
  end(): void {
    if (this.#isOpen) this.#write("\n");
    this.#isOpen = false;
  }
}
