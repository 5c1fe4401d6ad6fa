import { wallTime } from "@virtkit/api/clock";
import { type Log, type LogDetails, silentLog } from "@virtkit/api/observe";

/**
 * One JSON object per line, for a cluster's log collector. A line that cannot be written is lost;
 * the level `debug` is left out.
 */
export function jsonLog(write: (line: string) => void, now: () => Date = wallTime): Log {
  const at =
    (level: string) =>
    (first: LogDetails | string, text?: string): void => {
      const [details, message] = typeof first === "string" ? [{}, first] : [first, text];
      const line = JSON.stringify({ level, time: now().toISOString(), message, ...details });
      try {
        write(`${line}\n`);
      } catch {
        // Nobody reads it; the guest must not end for that.
      }
    };
  return { debug: silentLog.debug, info: at("info"), warn: at("warn"), error: at("error") };
}

/**
 * Where a defect is: its kind and the lines of code, without its text, which may contain anything.
 */
export function whereOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = error.stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  return [error.name, ...frames.map((line) => line.trim())].join("\n");
}
