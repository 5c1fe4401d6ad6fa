import type { ExecResult } from "../manager/guest-control.ts";
import type { AgentReply } from "./agent-reply.ts";

/** `guest-exec`: the pid of the process. */
export function readPid(reply: AgentReply): number {
  return reply.field("pid").count();
}

/**
 * `guest-exec-status`: undefined while the program runs. A program that a signal ended has the exit
 * code that a shell gives it: 128 plus the signal's number.
 */
export function readExecStatus(reply: AgentReply): ExecResult | undefined {
  if (!reply.field("exited").flag()) return undefined;
  const code = reply.field("exitcode");
  const signal = reply.field("signal");
  return {
    exitCode: code.absent && !signal.absent ? 128 + signal.count() : code.number(),
    stdout: reply.field("out-data").bytes().toString("utf8"),
    stderr: reply.field("err-data").bytes().toString("utf8"),
  };
}

/** Milliseconds between two checks of a program: most end at once, some take their time. */
export function nextExecDelay(last: number): number {
  return Math.min(last * 2, 500);
}

/** The first of those delays. */
export const firstExecDelay = 20;
