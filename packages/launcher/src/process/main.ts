import { writeSync } from "node:fs";
import { createControl } from "./create-control.ts";
import { parseLauncherOptions } from "./launcher-options.ts";
import { describe, jsonLog } from "./log.ts";
import { runLauncher } from "./run-launcher.ts";

/** The program: reads the command line, runs until the guest has ended or a signal comes, returns the exit code. */
export async function main(line: readonly string[]): Promise<number> {
  // Synchronous, so that the last words of a process that ends are not lost.
  const log = jsonLog((text) => writeSync(2, text));
  const ending = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => ending.abort(new Error(signal)));
  }
  // PID 1 has no default action for signals; without a listener these would be lost anyway.
  process.on("SIGHUP", () => log.info("ignores SIGHUP"));
  // A launcher that waits for a signal and nothing else would otherwise count as having nothing to do.
  const staying = setInterval(() => {}, 1 << 30);
  try {
    return await runLauncher(parseLauncherOptions(line), {
      log,
      createControl,
      signal: ending.signal,
    });
  } catch (error) {
    log.error("the launcher cannot run", { error: describe(error) });
    return 2;
  } finally {
    clearInterval(staying);
  }
}
