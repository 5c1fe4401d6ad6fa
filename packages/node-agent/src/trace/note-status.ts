import type { DomainStatus } from "@virtkit/domain-manager";
import type { Trace } from "./trace.ts";

/** What {@link noteStatus} goes by besides the status. */
export interface NoteStatusOptions {
  /** Whether the VMI has a readiness probe, whoever makes its checks. */
  readonly hasReadinessProbe: boolean;
  /** When it was so; now, by default. */
  readonly at?: string;
}

/**
 * Whether a guest is ready: it runs, and its readiness probe passes if it has one. A probe of which the
 * launcher says nothing is the kubelet's: then the node does not know.
 */
export function isReady(
  { state, probes }: Pick<DomainStatus, "state" | "probes">,
  hasReadinessProbe: boolean,
): boolean {
  if (state !== "Running") return false;
  return probes?.readiness ? probes.readiness.state === "passing" : !hasReadinessProbe;
}

/** Writes down the stages that a guest's status proves. */
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
