/** Where a launcher says what it does. */
export interface Log {
  info(message: string, details?: Readonly<Record<string, unknown>>): void;
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
  error(message: string, details?: Readonly<Record<string, unknown>>): void;
}

/** One JSON object a line: what a cluster's log collector reads. A line that cannot be written is lost. */
export function jsonLog(write: (line: string) => void, now: () => Date = () => new Date()): Log {
  const at =
    (level: string) =>
    (message: string, details: Readonly<Record<string, unknown>> = {}): void => {
      const line = JSON.stringify({ level, time: now().toISOString(), message, ...details });
      try {
        write(`${line}\n`);
      } catch {
        // Nobody reads it; the guest must not end for that.
      }
    };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** An error for a log: what it says, without the values that it was about. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? `${code}: ${error.message}` : `${error.name}: ${error.message}`;
}

/** Where a defect is: its kind and the lines of the code, without its text, which may hold anything. */
export function whereOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = error.stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  return [error.name, ...frames.map((line) => line.trim())].join("\n");
}
