import { ApiError } from "../api-error.ts";
import type { ClusterConfig } from "../config/index.ts";
import type { JsonPatchOperation } from "../defaults/index.ts";
import type { VirtualMachineInstance } from "../schema/index.ts";
import { at, entry, isObject, text } from "../shape.ts";
import { conditionsOf, findCondition } from "../status/conditions.ts";
import { type Admission, allow, refuse } from "./admission.ts";
import { argumentProblem } from "./argument-problem.ts";
import { quote } from "./cause.ts";

/** The parts of a Pod that matter for its eviction. */
export interface EvictedPod {
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly name: string }[];
  };
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

/** A request to evict a Pod: `pods/eviction`, CREATE. */
export interface EvictionRequest {
  readonly namespace: string;
  readonly name: string;
  /** The Eviction object, of any shape. */
  readonly object?: unknown;
  readonly dryRun?: boolean;
}

/** The objects of the cluster that evictions need. */
export interface EvictionLookup {
  pod(namespace: string, name: string): EvictedPod | undefined;
  virtualMachineInstance(namespace: string, name: string): VirtualMachineInstance | undefined;
}

/** The answer to an eviction, and what to do about the VMI. */
export interface EvictionAdmission {
  readonly response: Admission;
  /** The change to write to the VMI before answering; if it fails, the eviction is refused as well. */
  readonly patch?: { readonly operations: readonly JsonPatchOperation[]; readonly dryRun: boolean };
}

/** How a VMI reacts to the eviction of its Pod. */
export interface EvictionDecision {
  /** The effective strategy: the VMI's own, or the cluster's. */
  readonly strategy: string | undefined;
  /** Whether the VMI can be migrated live. */
  readonly isMigratable: boolean;
  /** Whether an evacuation migrates it: LiveMigrate tries even if the VMI cannot be migrated. */
  readonly migratableOnEviction: boolean;
}

/**
 * What an eviction means for a VMI of any shape; what the VMI does not set comes from the cluster. Throws an
 * `ApiError` with `API_OBJECT_MALFORMED` if there is no VMI or no configuration.
 */
export function evictionDecision(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
): EvictionDecision {
  const problem = argumentProblem({ vmi, config });
  if (problem) {
    throw new ApiError("API_OBJECT_MALFORMED", problem.message, { path: problem.argument });
  }
  const own = at(vmi, "spec", "evictionStrategy");
  const strategy = typeof own === "string" ? own : config.evictionStrategy;
  const isMigratable = conditionsOf(vmi).some(
    ({ type, status }) => type === "LiveMigratable" && status === "True",
  );
  const migratableOnEviction =
    strategy === "LiveMigrate" || (strategy === "LiveMigrateIfPossible" && isMigratable);
  return { strategy, isMigratable, migratableOnEviction };
}

/**
 * Checks the eviction of a Pod. A launcher Pod whose VMI should move is not evicted: the VMI is marked for
 * evacuation, and the Pod is removed when the VMI has left it. The answer is 429, which makes a drain try again.
 * Accepts objects of any shape and never throws; without a request, a configuration or a lookup, the eviction is
 * refused.
 */
export function admitPodEviction(
  request: EvictionRequest,
  config: ClusterConfig,
  lookup: EvictionLookup,
): EvictionAdmission {
  const problem = argumentProblem({ request, config, lookup });
  if (problem) return { response: refuse(400, problem.message) };
  const pod = lookup.pod(request.namespace, request.name);
  if (!pod) return evict;
  const app = pod.metadata?.labels?.[config.names.labels.app];
  if (app === "hotplug-disk" && pod.metadata?.ownerReferences?.length === 1) {
    return hotplugPod(pod, request, { config, lookup });
  }
  if (app !== "virt-launcher" || hasEnded(pod)) return evict;
  return launcherPod(pod, request, { config, lookup });
}

interface Surroundings {
  readonly config: ClusterConfig;
  readonly lookup: EvictionLookup;
}

const evict: EvictionAdmission = { response: allow() };

function keep(message: string): EvictionAdmission {
  return { response: refuse(429, message) };
}

/** A Pod that only holds volumes is evicted with the launcher Pod that it serves, not before. */
function hotplugPod(
  pod: EvictedPod,
  { namespace, name }: EvictionRequest,
  { config, lookup }: Surroundings,
): EvictionAdmission {
  const owner = lookup.pod(namespace, pod.metadata?.ownerReferences?.[0]?.name ?? "");
  const isLauncher = owner?.metadata?.labels?.[config.names.labels.app] === "virt-launcher";
  if (!owner || !isLauncher || hasEnded(owner)) return evict;
  const vmiName = machineOf(owner, config);
  if (vmiName === undefined || !lookup.virtualMachineInstance(namespace, vmiName)) return evict;
  return keep(
    `Pod ${quote(name)} holds volumes of the running VMI ${quote(vmiName)}; it ends with the launcher Pod`,
  );
}

function launcherPod(
  pod: EvictedPod,
  request: EvictionRequest,
  { config, lookup }: Surroundings,
): EvictionAdmission {
  const vmiName = machineOf(pod, config);
  if (vmiName === undefined) return evict;
  const shown = quote(`${text(request.namespace)}/${vmiName}`);
  const vmi = lookup.virtualMachineInstance(request.namespace, vmiName);
  if (!isObject(vmi)) return keep(`the VMI ${shown} of this Pod was not found`);
  const { strategy, isMigratable } = evictionDecision(vmi, config);
  if (strategy === "LiveMigrate" && !isMigratable) {
    return keep(
      `the VMI ${shown} must not be shut down (evictionStrategy LiveMigrate) and cannot be migrated: ${obstacleOf(vmi)}; stop it or change the strategy`,
    );
  }
  const marks = strategy === "LiveMigrate" || strategy === "External";
  if (!marks && !(strategy === "LiveMigrateIfPossible" && isMigratable)) return evict;
  if (vmi.status?.evacuationNodeName) {
    return keep(`the VMI ${shown} is being evacuated; its Pod ends when it has left`);
  }
  const node = pod.spec?.nodeName ?? "";
  if ((vmi.status?.nodeName ?? "") !== node) {
    return keep(`this Pod is the target of a migration of ${shown}; it is still needed`);
  }
  const message = `the VMI ${shown} is now evacuated; its Pod ends when it has left`;
  return { ...keep(message), patch: evacuation(vmi, node, { request, config }) };
}

/** Why a VMI cannot be migrated, in the words of its node agent. */
function obstacleOf(vmi: VirtualMachineInstance): string {
  const { message, reason } = findCondition(conditionsOf(vmi), "LiveMigratable") ?? {};
  const why = text(message) || text(reason);
  return why.slice(0, 500) || "its node has not confirmed yet that it can be";
}

/** Marks the VMI as one that has to leave the node, and records who asked for it. */
function evacuation(
  vmi: VirtualMachineInstance,
  node: string,
  { request, config }: { request: EvictionRequest; config: ClusterConfig },
): NonNullable<EvictionAdmission["patch"]> {
  const eviction = readEviction(request.object);
  const mark: JsonPatchOperation = { op: "add", path: "/status/evacuationNodeName", value: node };
  return {
    operations: eviction.byDescheduler ? [mark, sourceAnnotation(vmi, config)] : [mark],
    dryRun: request.dryRun || eviction.dryRun,
  };
}

function sourceAnnotation(
  { metadata }: VirtualMachineInstance,
  { names }: ClusterConfig,
): JsonPatchOperation {
  const annotation = names.annotations.evictionSource;
  const value = "descheduler";
  if (Object.keys(metadata?.annotations ?? {}).length === 0) {
    return { op: "add", path: "/metadata/annotations", value: { [annotation]: value } };
  }
  const key = annotation.replaceAll("/", "~1");
  return { op: "replace", path: `/metadata/annotations/${key}`, value };
}

function readEviction(object: unknown): { byDescheduler: boolean; dryRun: boolean } {
  const { metadata, deleteOptions } = Object(object) as Record<string, unknown>;
  const { annotations } = Object(metadata) as Record<string, unknown>;
  const { dryRun } = Object(deleteOptions) as Record<string, unknown>;
  const requestedBy = (Object(annotations) as Record<string, unknown>)["requested-by"];
  return {
    byDescheduler: requestedBy === "sigs.k8s.io/descheduler",
    dryRun: Array.isArray(dryRun) && dryRun[0] === "All",
  };
}

function machineOf(pod: EvictedPod, { names }: ClusterConfig): string | undefined {
  return entry(at(pod, "metadata", "annotations"), names.annotations.domain);
}

function hasEnded({ status }: EvictedPod): boolean {
  return status?.phase === "Failed" || status?.phase === "Succeeded";
}
