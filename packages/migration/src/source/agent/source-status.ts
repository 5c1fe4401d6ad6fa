import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";
import type { PlannedEvent } from "@virtkit/api/status";
import type { MigratingDomain } from "../../migrating-domain.ts";
import { isDecentralized } from "../../migration-phase.ts";
import { guardVmi } from "../../policy/guard-vmi.ts";
import { migrationWarning, withAttempt } from "../../with-attempt.ts";
import { isSource } from "./is-source.ts";

/** What a source reports about a migration in the VMI's status. */
export interface SourceStatus {
  readonly migrationState: VirtualMachineInstanceMigrationState;
  /**
   * The guest has left, but its destination is unknown. KubeVirt then declares the VMI `Failed`. That alone does
   * not prove that nothing runs: do not end anything because of it.
   */
  readonly isLost: boolean;
  /** The guest has arrived in another cluster, so this VMI has succeeded. */
  readonly hasLeft: boolean;
  /** Check again after this many seconds: the target may still see the guest. */
  readonly requeueSeconds?: number;
  readonly events: readonly PlannedEvent[];
}

/** What the status depends on besides the VMI. */
export interface SourceStatusFacts {
  readonly node: string;
  /** `undefined` if there is none. */
  readonly domain: MigratingDomain | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** How long the target may take to notice that the guest has arrived. */
const detectionSeconds = 60;

/**
 * The status of a migration as its source knows it, from its launcher's report; `undefined` if the VMI has none. A
 * VMI with another shape gives a `MigrationError` with the `path` of the field.
 */
export function sourceStatus(
  vmi: VirtualMachineInstance,
  facts: SourceStatusFacts,
): SourceStatus | undefined {
  return guardVmi(vmi, () => statusOf(vmi, facts));
}

function statusOf(
  vmi: VirtualMachineInstance,
  { node, domain, now }: SourceStatusFacts,
): SourceStatus | undefined {
  const known = vmi.status?.migrationState;
  if (!known) return undefined;
  const told = isSource(vmi, node) ? fromLauncher(known, domain) : { state: known, events: [] };
  const events = [...told.events];
  let { state } = told;
  const { isSeen, secondsLeft } = detection(state, now);
  const isLost = !state.targetNode || (!isSeen && secondsLeft <= 0);
  if (isLost) {
    const endTimestamp = state.endTimestamp ?? `${new Date(now).toISOString().slice(0, 19)}Z`;
    state = { ...state, completed: true, failed: true, endTimestamp };
    events.push(
      migrationWarning(
        state.targetNode
          ? `the guest was not seen at its target within ${detectionSeconds} seconds`
          : "the guest left for an unknown node",
      ),
    );
  }
  const isFailed = isLost || vmi.status?.phase === "Failed";
  const decentralized = isDecentralized(state);
  if (isFailed && decentralized) {
    state = { ...state, completed: true, failed: true };
    events.push(
      migrationWarning("the migration between clusters failed because its source has failed"),
    );
  }
  const hasLeft = isSeen && decentralized && state.completed === true;
  const isWaiting = !isLost && !isSeen && state.endTimestamp !== undefined;
  return {
    migrationState: state,
    isLost,
    hasLeft,
    ...(isWaiting && { requeueSeconds: Math.max(secondsLeft, 5) }),
    events,
  };
}

/** The launcher's report counts if it is about this migration. */
function fromLauncher(
  state: VirtualMachineInstanceMigrationState,
  domain: MigratingDomain | undefined,
): ReturnType<typeof withAttempt> {
  const attempt = domain?.migration;
  if (!attempt || attempt.uid !== (state.migrationUid ?? "")) return { state, events: [] };
  const { failed: _, ...rest } = state;
  return withAttempt(rest, attempt);
}

/** Whether the target has seen the guest, and how long it may still take. */
function detection(
  { endTimestamp, targetState }: VirtualMachineInstanceMigrationState,
  now: number,
): { readonly isSeen: boolean; readonly secondsLeft: number } {
  if (!endTimestamp) return { isSeen: false, secondsLeft: detectionSeconds };
  if (targetState?.domainDetected && targetState.domainReadyTimestamp) {
    return { isSeen: true, secondsLeft: 0 };
  }
  const seconds = Math.floor(now / 1000) - Math.floor(Date.parse(endTimestamp) / 1000);
  return { isSeen: false, secondsLeft: detectionSeconds - seconds };
}
