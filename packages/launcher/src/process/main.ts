import { writeSync } from "node:fs";
import { describeError, type Log } from "@virtkit/api/observe";
import { createControl } from "./create-control.ts";
import { parseLauncherOptions } from "./launcher-options.ts";
import { jsonLog, whereOf } from "./log.ts";
import { runLauncher } from "./run-launcher.ts";

/**
 * The program: reads the command line, runs until the guest has ended or the signal is aborted, and returns
 * the exit code: 0, 1 where the launcher failed, 2 where its command line is not understood.
 */
export async function main(line: readonly string[], signal: AbortSignal): Promise<number> {
  // Synchronous, so that the last words of a process that ends are not lost.
  const log = jsonLog((text) => writeSync(2, text));
  surviveDefects(log);
  // A launcher that waits for a signal and nothing else would otherwise count as having nothing to do.
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
 * The end of PID 1 is the end of its guest. A defect in one path of the code must not be that: it is logged,
 * and what is true of the guest is read from libvirt anew each time in any case.
 */
function surviveDefects(log: Log): void {
  const survive = (error: unknown): void =>
    log.error({ where: whereOf(error) }, "a defect was survived");
  process.on("uncaughtException", survive);
  process.on("unhandledRejection", survive);
}
