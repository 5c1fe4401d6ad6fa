import { type Names, names } from "@virtkit/api/names";
import type {
  MigrationNetworkType,
  VirtualMachineInstance,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";
import type { PlannedEvent } from "@virtkit/api/status";
import type { MigratingDomain } from "../../migrating-domain.ts";
import { isOver, isRunning } from "../../migration-phase.ts";
import { guardVmi } from "../../policy/guard-vmi.ts";
import { isActive } from "./is-active.ts";
import { withProgress } from "./settle-abort.ts";
import { without, withoutCondition } from "./without.ts";

/** What a target reports about itself in the VMI. */
export interface TargetStatus {
  /** With the status, labels and annotations that it should have. */
  readonly vmi: VirtualMachineInstance;
  readonly events: readonly PlannedEvent[];
  /** Check again after this many seconds: the server does not listen yet. */
  readonly requeueSeconds?: number;
}

/** What the status depends on besides the VMI, as the step has left it. */
export interface TargetStatusFacts {
  readonly node: string;
  /** `undefined` if there is none. */
  readonly domain: MigratingDomain | undefined;
  /** Where the target listens, and which of its QEMU's ports is behind which port of the node. */
  readonly listener?: {
    readonly address: string;
    readonly ports: Readonly<Record<string, number>>;
    /** Whether that is the Pod's network or a dedicated one; undefined if nobody knows. */
    readonly network?: MigrationNetworkType;
  };
  /** The host CPUs that the guest gets here, if it has dedicated CPUs. */
  readonly cpus?: { readonly cpuSet: readonly number[]; readonly topology: string };
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly names?: Names;
}

/**
 * The status of a migration as its target knows it: the copy has been seen, the guest runs, it has arrived, or
 * where the target listens. A VMI that is in no migration, or in one that has failed, stays as it is.
 *
 * @throws MigrationError if the VMI is not shaped like one.
 */
export function targetStatus(vmi: VirtualMachineInstance, facts: TargetStatusFacts): TargetStatus {
  return guardVmi(vmi, () => {
    const state = vmi.status?.migrationState;
    if (!state || state.failed) return { vmi, events: [] };
    const isAborting = state.abortRequested === true && !isOver(state);
    const progress = isAborting ? { state, events: [] } : withProgress(state, facts.domain);
    const seen = withDomain(withState(vmi, progress.state), facts);
    const ended = withEnd(seen, facts);
    const events = [...progress.events, ...ended.events];
    const known = ended.vmi.status?.migrationState ?? {};
    const stillAborts = known.abortRequested === true && !isOver(known);
    if (isRunning(known, facts.now) && !stillAborts) return { vmi: ended.vmi, events };
    const published = withListener(ended.vmi, known, facts);
    return { ...published, events: [...events, ...published.events] };
  });
}

/** Records that the copy is here, and when its guest began to run. */
function withDomain(vmi: VirtualMachineInstance, facts: TargetStatusFacts): VirtualMachineInstance {
  const { domain, now } = facts;
  let state = vmi.status?.migrationState ?? {};
  if (domain && !state.targetNodeDomainDetected) {
    state = { ...state, targetNodeDomainDetected: true, ...told(state, { domainDetected: true }) };
  }
  if (!isActive(domain) || state.targetNodeDomainReadyTimestamp) return withState(vmi, state);
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const ready = { ...state, ...told(state, { domainReadyTimestamp: time }) };
  const status = withoutCondition(vmi.status ?? {}, "MigrationRequired");
  return withState({ ...vmi, status }, { ...ready, targetNodeDomainReadyTimestamp: time });
}

/** The newer fields repeat the older ones, if there are any. */
function told(
  { targetState }: VirtualMachineInstanceMigrationState,
  fields: NonNullable<VirtualMachineInstanceMigrationState["targetState"]>,
): Pick<VirtualMachineInstanceMigrationState, "targetState"> {
  return targetState ? { targetState: { ...targetState, ...fields } } : {};
}

/** The launcher reports that it is over: the guest is here, or its copy never ran. */
function withEnd(
  vmi: VirtualMachineInstance,
  facts: TargetStatusFacts,
): Pick<TargetStatus, "vmi" | "events"> {
  const { endTimestamp, startTimestamp } = facts.domain?.migration ?? {};
  if (!endTimestamp) return { vmi, events: [] };
  const state = vmi.status?.migrationState ?? {};
  const start = state.startTimestamp ?? startTimestamp;
  const ended = { ...state, ...(start && { startTimestamp: start }), endTimestamp };
  if (isActive(facts.domain)) return arrived(vmi, ended, facts);
  return { vmi: withState(vmi, { ...ended, failed: true, completed: true }), events: [] };
}

function arrived(
  vmi: VirtualMachineInstance,
  migrationState: VirtualMachineInstanceMigrationState,
  { node, names: { labels, annotations } = names() }: TargetStatusFacts,
): Pick<TargetStatus, "vmi" | "events"> {
  const { launcherContainerImageVersion: _, evacuationNodeName: __, ...status } = vmi.status ?? {};
  const overhead = migrationState.targetMemoryOverhead;
  const { metadata } = vmi;
  const message = `the guest has arrived on node ${node}`;
  return {
    vmi: {
      ...vmi,
      metadata: {
        ...metadata,
        labels: {
          ...without(metadata?.labels, [labels.outdatedLauncherImage]),
          [labels.nodeName]: node,
        },
        ...(metadata?.annotations && {
          annotations: without(metadata.annotations, [annotations.evictionSource]),
        }),
      },
      status: {
        ...status,
        migrationState,
        nodeName: node,
        migrationTransport: "Unix",
        ...(overhead !== undefined && { memory: { ...status.memory, memoryOverhead: overhead } }),
      },
    },
    events: [{ type: "Normal", reason: "Migrated", message }],
  };
}

/** Publishes for the source where to send, and which CPUs the guest gets. */
function withListener(
  vmi: VirtualMachineInstance,
  state: VirtualMachineInstanceMigrationState,
  { listener, cpus }: TargetStatusFacts,
): TargetStatus {
  if (!listener) return { vmi, events: [], requeueSeconds: 1 };
  const { address, network } = listener;
  const ports = { ...listener.ports };
  const isNew = state.targetNodeAddress !== address;
  const published = isNew && {
    targetNodeAddress: address,
    targetDirectMigrationNodePorts: ports,
    ...(network && { migrationNetworkType: network }),
    ...told(state, { nodeAddress: address, directMigrationNodePorts: ports }),
  };
  const placed = cpus && { targetCPUSet: [...cpus.cpuSet], targetNodeTopology: cpus.topology };
  const message = `the target listens at ${address}, on ports ${Object.keys(ports).join(", ")}`;
  return {
    vmi: withState(vmi, { ...state, ...published, ...placed }),
    events: isNew ? [{ type: "Normal", reason: "PreparingTarget", message }] : [],
  };
}

function withState(
  vmi: VirtualMachineInstance,
  migrationState: VirtualMachineInstanceMigrationState,
): VirtualMachineInstance {
  return { ...vmi, status: { ...vmi.status, migrationState } };
}
