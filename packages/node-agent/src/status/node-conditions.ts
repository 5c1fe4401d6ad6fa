import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance, VirtualMachineInstanceCondition } from "@virtkit/api/schema";
import {
  conditionsOf,
  findCondition,
  observeCondition,
  removeCondition,
  setCondition,
} from "@virtkit/api/status";
import type { DomainStatus } from "@virtkit/domain-manager";
import { agentShortfall } from "./agent-support.ts";

/** What the conditions follow from besides the VMI and its domain. */
export interface ConditionOptions {
  readonly config: ClusterConfig;
  /** The time of changes. */
  readonly now: string;
  /** `amd64`, `arm64`, `s390x`; of this node. */
  readonly hostArchitecture?: string | undefined;
  /** Why the last attempt to bring the guest to what the VMI says failed; absent if it did not. */
  readonly failure?: SyncFailure | undefined;
}

/** Why a node could not do what a VMI asks for. */
export interface SyncFailure {
  readonly reason: string;
  readonly message: string;
  /** Whether a retry cannot help: a guest that does not run yet never will. Default false. */
  readonly isFinal?: boolean;
}

type Condition = VirtualMachineInstanceCondition;
type Conditions = readonly Condition[];

/** A VMI's conditions, with those that the node writes updated. Others stay. */
export function nodeConditions(
  vmi: VirtualMachineInstance,
  domain: DomainStatus | undefined,
  options: ConditionOptions,
): Conditions {
  let conditions: Conditions = conditionsOf<Condition>(vmi);
  conditions = withAgent(conditions, vmi, domain, options);
  conditions = withCredentials(conditions, domain, options);
  conditions = withPause(conditions, vmi, domain, options);
  conditions = withEmulation(conditions, vmi, domain, options);
  const { failure } = options;
  return observeCondition(
    conditions,
    "Synchronized",
    failure && {
      ...stamp("False", options),
      reason: failure.reason,
      message: failure.message,
    },
  );
}

function stamp(status: string, { now }: ConditionOptions): Omit<Condition, "type"> {
  return { status, lastProbeTime: now, lastTransitionTime: now };
}

function withAgent(
  conditions: Conditions,
  vmi: VirtualMachineInstance,
  domain: DomainStatus | undefined,
  options: ConditionOptions,
): Conditions {
  // What was said about an agent's version stays true while it is away.
  if (domain?.agent !== "connected") return removeCondition(conditions, "AgentConnected");
  const connected = setCondition(conditions, { type: "AgentConnected", ...stamp("True", options) });
  const shortfall = agentShortfall(vmi, domain, options.config.supportedGuestAgentVersions);
  const type = "AgentVersionNotSupported";
  if (shortfall === "unknown") return connected;
  if (shortfall === undefined) return removeCondition(connected, type);
  if (findCondition(connected, type)) return connected;
  return [...connected, { type, ...stamp("True", options), reason: shortfall }];
}

function withCredentials(
  conditions: Conditions,
  domain: DomainStatus | undefined,
  options: ConditionOptions,
): Conditions {
  const found = domain?.accessCredentials;
  if (!found) return conditions;
  const type = "AccessCredentialsSynchronized";
  const status = found.synced ? "True" : "False";
  const message = found.message ?? "";
  const before = findCondition(conditions, type);
  if (before?.status === status && (before.message ?? "") === message) return conditions;
  return [
    ...removeCondition(conditions, type),
    { type, ...stamp(status, options), ...(message ? { message } : {}) },
  ];
}

const pauses: Readonly<Record<string, { readonly reason: string; readonly message: string }>> = {
  User: { reason: "PausedByUser", message: "the guest was paused by a user" },
  IOError: {
    reason: "PausedIOError",
    message: "the guest was paused because a disk failed a request",
  },
};
const pausedToMigrate = {
  reason: "PausedByMigrationMonitor",
  message: "the guest was paused so that its migration can complete",
};

/** The first reason for a pause stays until the guest runs again. */
function withPause(
  conditions: Conditions,
  { status }: VirtualMachineInstance,
  domain: DomainStatus | undefined,
  options: ConditionOptions,
): Conditions {
  const type = "Paused";
  if (domain?.state !== "Paused") return removeCondition(conditions, type);
  const isMonitored = domain.reason === "Migration" && status?.migrationState?.mode === "Paused";
  const known = Object.hasOwn(pauses, domain.reason) ? pauses[domain.reason] : undefined;
  const why = isMonitored ? pausedToMigrate : known;
  if (!why || findCondition(conditions, type)) return conditions;
  return [...conditions, { type, ...stamp("True", options), ...why }];
}

/** A guest of another architecture is emulated, which is slow: its VMI says so. */
function withEmulation(
  conditions: Conditions,
  { spec }: VirtualMachineInstance,
  domain: DomainStatus | undefined,
  options: ConditionOptions,
): Conditions {
  const { config, hostArchitecture } = options;
  if (!domain || !config.gate("CrossArchitectureVirtualization")) return conditions;
  const isForeign = (spec.architecture ?? hostArchitecture) !== hostArchitecture;
  const observed =
    domain.hardware?.emulated && isForeign
      ? { ...stamp("True", options), reason: "CrossArchitectureEmulation" }
      : undefined;
  return observeCondition(conditions, "SoftwareEmulation", observed);
}
