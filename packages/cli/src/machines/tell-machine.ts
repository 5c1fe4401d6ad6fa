import { describeGrant } from "@virtkit/api/grant";
import { type Handoff, handoffs, type TraceEntry } from "@virtkit/api/timeline";
import type { MachineRecord, MachineState } from "@virtkit/node-agent/local";
import { machineName } from "./find-machine.ts";
import { timeline } from "./progress-lines.ts";

/** What is known of the way of one machine of this host. */
export interface MachineStory {
  readonly record: MachineRecord;
  readonly now: MachineState;
  readonly trace: readonly TraceEntry[];
  readonly handoffs: readonly Handoff[];
  /** Who may run the guest, in one sentence. */
  readonly grant: string;
}

/** Reads a machine's trace and asks its launcher; what the guest's agent did since nobody watched is added. */
export async function machineStory(
  stateDirectory: string,
  record: MachineRecord,
): Promise<MachineStory> {
  const { agentDirectory, machineState } = await import("@virtkit/node-agent/local");
  const { RunClaims } = await import("@virtkit/node-agent/claims");
  const { readTrace, Trace } = await import("@virtkit/node-agent/trace");
  const directory = agentDirectory(stateDirectory);
  const uid = record.vmi.metadata?.uid ?? "";
  const now = await machineState(stateDirectory, record);
  if (now.status?.agent === "connected") {
    const trace = new Trace(directory, uid);
    trace.note({ stage: "agent-connected" });
    trace.note({ stage: "ready" });
  }
  const trace = readTrace(directory, uid);
  const grant = describeGrant(new RunClaims(directory).grant(record));
  return { record, now, trace, handoffs: handoffs({ vmi: record.vmi, trace }), grant };
}

/** How far the machine is, and what each handoff took. */
export function storyText({ record, now, trace, handoffs: list, grant }: MachineStory): string {
  const name = machineName(record);
  const open = list.find(({ state }) => state === "failed" || state === "waiting");
  const start = Date.parse(record.createdAt);
  const next = {
    Ended: `virtkit rm ${name}, or virtkit run again`,
    Starting: `virtkit why ${name} again, or virtkit rm ${name}`,
  };
  const hint = Object.hasOwn(next, now.state)
    ? next[now.state as keyof typeof next]
    : `virtkit console ${name}, virtkit stop ${name}`;
  const why =
    open === undefined
      ? ""
      : `\n  ${open.state === "failed" ? "failed at" : "waits for"} ${open.stage}${open.reason ? `: ${open.reason}` : ""}`;
  return `${name}: ${now.state}${why}\n  ${grant}\n\n${timeline(trace, start)}\n\nNext: ${hint}\n`;
}
