import { type Handoff, handoffs, type TraceEntry } from "@virtkit/api/timeline";
import type { DomainStatus, ProbeStatus } from "@virtkit/domain-manager";
import type { MachineRecord, MachineState } from "@virtkit/node-agent/local";
import { machineName } from "./find-machine.ts";
import { timeline } from "./progress-lines.ts";

/** What is known of the way of one machine of this host. */
export interface MachineStory {
  readonly record: MachineRecord;
  readonly now: MachineState;
  readonly trace: readonly TraceEntry[];
  readonly handoffs: readonly Handoff[];
}

/** Reads a machine's trace and asks its launcher; what the guest's agent did since nobody watched is added. */
export async function machineStory(
  stateDirectory: string,
  record: MachineRecord,
): Promise<MachineStory> {
  const { agentDirectory, machineState, readinessOf } = await import("@virtkit/node-agent/local");
  const { readTrace, Trace } = await import("@virtkit/node-agent/trace");
  const directory = agentDirectory(stateDirectory);
  const uid = record.vmi.metadata?.uid ?? "";
  const now = await machineState(stateDirectory, record);
  if (now.status?.agent === "connected") {
    const trace = new Trace(directory, uid);
    trace.note({ stage: "agent-connected" });
    if (readinessOf(now)) trace.note({ stage: "ready" });
  }
  const trace = readTrace(directory, uid);
  return { record, now, trace, handoffs: handoffs({ vmi: record.vmi, trace }) };
}

/** How far the machine is, and what each handoff took. */
export function storyText({ record, now, trace, handoffs: list }: MachineStory): string {
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
  const probes = probeLines(now.status?.probes ?? {});
  return `${name}: ${now.state}${why}${probes}\n\n${timeline(trace, start)}\n\nNext: ${hint}\n`;
}

/** What the VMI's probes have found, a line each. */
function probeLines(probes: NonNullable<DomainStatus["probes"]>): string {
  const { readiness, liveness } = probes;
  const line = (label: string, { message }: ProbeStatus): string =>
    `\n  ${label}${message === undefined ? "" : `: the last check failed: ${message}`}`;
  const ready = { passing: "ready", pending: "not ready yet", failing: "not ready" };
  const alive = { passing: "alive", pending: "not known to be alive yet", failing: "not alive" };
  return [
    readiness ? line(`readiness probe: ${ready[readiness.state]}`, readiness) : "",
    liveness ? line(`liveness probe: ${alive[liveness.state]}`, liveness) : "",
  ].join("");
}
