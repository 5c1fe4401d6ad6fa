import type { DomainStatus } from "@virtkit/domain-manager";
import type { Trace } from "./trace.ts";

/** What {@link noteStatus} is based on besides the status. */
export interface NoteStatusOptions {
  /** Whether the VMI has a readiness probe, no matter who runs it. */
  readonly hasReadinessProbe: boolean;
  /** When it was so; now, by default. */
  readonly at?: string;
}

/**
 * Whether a guest is ready: it runs, and its readiness probe succeeds if it has one. If the launcher does not
 * report on a probe, the kubelet runs it: then the node does not know.
 */
export function isReady(
  { state, probes }: Pick<DomainStatus, "state" | "probes">,
  hasReadinessProbe: boolean,
): boolean {
  if (state !== "Running") return false;
  return probes?.readiness ? probes.readiness.state === "passing" : !hasReadinessProbe;
}

/** Records the stages that a guest's status proves. */
export function noteStatus(
  trace: Trace,
  status: DomainStatus,
  { hasReadinessProbe, at }: NoteStatusOptions,
): void {
  const note = (stage: Parameters<Trace["note"]>[0]["stage"]): void =>
    trace.note(at === undefined ? { stage } : { stage, at });
  if (status.state === "Running") {
    note("domain-defined");
    note("guest-running");
  }
  if (isReady(status, hasReadinessProbe)) note("ready");
  if (status.agent === "connected") note("agent-connected");
}
