import { writeSync } from "node:fs";
import { describeError, type Log } from "@virtkit/api/observe";
import { createControl } from "./create-control.ts";
import { parseLauncherOptions } from "./launcher-options.ts";
import { jsonLog, whereOf } from "./log.ts";
import { runLauncher } from "./run-launcher.ts";

/**
 * The program: reads the command line, runs until the guest has ended or the signal is aborted, and
 * returns the exit code: 0, 1 if the launcher failed, 2 if its command line is invalid.
 */
export async function main(line: readonly string[], signal: AbortSignal): Promise<number> {
  // Synchronous, so that the last lines of an ending process are not lost.
  const log = jsonLog((text) => writeSync(2, text));
  surviveDefects(log);
  // Otherwise a launcher that only waits for a signal would count as having nothing to do.
  const staying = setInterval(() => {}, 1 << 30);
  try {
    return await runLauncher(parseLauncherOptions(line), { log, createControl, signal });
  } catch (error) {
    log.error({ error: describeError(error) }, "the launcher cannot run");
    return 2;
  } finally {
    clearInterval(staying);
  }
}

/**
 * The end of PID 1 is the end of its guest. A defect in one code path must not cause that: it is logged, and
 * the guest's state is read from libvirt each time anyway.
 */
function surviveDefects(log: Log): void {
  const survive = (error: unknown): void =>
    log.error({ where: whereOf(error) }, "recovered from a defect");
  process.on("uncaughtException", survive);
  process.on("unhandledRejection", survive);
}
