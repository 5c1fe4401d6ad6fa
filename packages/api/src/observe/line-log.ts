import { wallTime } from "../clock/index.ts";
import type { Log, LogDetails, LogMethod } from "./log.ts";

/** A log that writes JSON lines. Debug messages are left out. */
export function lineLog(write: (line: string) => void): Log {
  const at =
    (level: string): LogMethod =>
    (first: LogDetails | string, second?: string): void => {
      const [details, message] = typeof first === "string" ? [{}, first] : [first, second];
      write(JSON.stringify({ time: wallTime().toISOString(), level, message, ...details }));
    };
  return { debug: () => {}, info: at("info"), warn: at("warn"), error: at("error") };
}
