import { type Log, type LogDetails, type LogMethod, silentLog } from "@virtkit/api/observe";

/** A log that says these details with everything. */
export function logWith(log: Log, details: LogDetails): Log {
  if (log === silentLog) return log;
  const method = (level: keyof Log): LogMethod => {
    return (first: string | LogDetails, message?: string) => {
      if (typeof first === "string") log[level](details, first);
      else log[level]({ ...details, ...first }, message);
    };
  };
  return {
    debug: method("debug"),
    info: method("info"),
    warn: method("warn"),
    error: method("error"),
  };
}
