import { readFileSync } from "node:fs";
import { isHostError } from "@virtkit/host-primitives";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import { NodeAgentError } from "../node-agent-error.ts";

/**
 * Identifies a process for all time: no other one, in this boot or another, has the same three values. Plain data.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from the host's start to the process's, as in `/proc/<pid>/stat`. */
  readonly startTime: string;
  readonly bootId: string;
}

/** The identity of this boot of the host. */
export function currentBootId(file = "/proc/sys/kernel/random/boot_id"): string {
  return readFileSync(file, "utf8").trim();
}

/** The identity of an open process. Throws `HOST_PROCESS_GONE` if it has ended and was reaped. */
export function identityOf(
  process: ProcessHandle,
  bootId: string = currentBootId(),
): ProcessIdentity {
  return { pid: process.pid, startTime: readStat(process).startTime, bootId };
}

/** Whether an open process has exited, including one that only waits to be reaped. */
export function hasExited(process: ProcessHandle): boolean {
  try {
    return readStat(process).exited;
  } catch (error) {
    if (isHostError(error) && error.code === "HOST_PROCESS_GONE") return true;
    throw error;
  }
}

/**
 * Whether a process is proven to have ended: the host has rebooted, nobody has its pid, the process with its pid
 * started at another time, or it has exited and only waits to be reaped. Throws if that cannot be determined, which
 * is not proof. The first process of a pid namespace exits after all others in it.
 */
export function hasEnded(
  { pid, startTime, bootId }: ProcessIdentity,
  currentBoot: string = currentBootId(),
): boolean {
  if (bootId !== currentBoot) return true;
  try {
    using process = ProcessHandle.open(pid);
    const stat = readStat(process);
    return stat.startTime !== startTime || stat.exited;
  } catch (error) {
    if (isHostError(error) && error.code === "HOST_PROCESS_GONE") return true;
    throw error;
  }
}

/** Whether a value read from disk is an identity. */
export function isProcessIdentity(value: unknown): value is ProcessIdentity {
  const { pid, startTime, bootId } = Object(value) as Record<keyof ProcessIdentity, unknown>;
  return (
    Number.isSafeInteger(pid) &&
    (pid as number) > 0 &&
    typeof startTime === "string" &&
    /^\d+$/.test(startTime) &&
    typeof bootId === "string" &&
    bootId !== ""
  );
}

/** Positions of the fields after the program's name, which is in parentheses and may contain any byte. */
const fields = { state: 0, threads: 17, startTime: 19 } as const;

function readStat(process: ProcessHandle): { startTime: string; exited: boolean } {
  const text = process.read("stat");
  const rest = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, threads, startTime] = [fields.state, fields.threads, fields.startTime].map(
    (place) => rest[place] ?? "",
  );
  if (startTime === undefined || !/^\d+$/.test(startTime)) {
    const message = `/proc/${process.pid}/stat has no start time; is /proc mounted?`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path: `/proc/${process.pid}/stat` });
  }
  // A first thread that has ended appears as a zombie while other threads of the process still run.
  return { startTime, exited: /^[ZX]$/.test(state ?? "") && Number(threads) <= 1 };
}
