import { Quantity, readQuantity } from "../quantity/index.ts";
import type { Schema, SchemaNode } from "../schema/index.ts";

/**
 * Numbers and switches for which KubeVirt treats zero as absent, and which it never writes when they are zero.
 * All other zeros have a meaning and are kept.
 */
const zeroIsAbsent: ReadonlySet<string> = new Set([
  "abortRequested",
  "acpiIndex",
  "checksum",
  "completed",
  "consecutiveFailCount",
  "cores",
  "created",
  "dedicatedCpuPlacement",
  "default",
  "desiredGeneration",
  "disableHotplug",
  "domainDetected",
  "endOfInterrupt",
  "failed",
  "failureThreshold",
  "finalCheckpoint",
  "generation",
  "hidden",
  "hotpluggable",
  "initialDelaySeconds",
  "isolateEmulatorThread",
  "logical",
  "maxSockets",
  "observedGeneration",
  "overcommitGuestOverhead",
  "periodSeconds",
  "physical",
  "preallocated",
  "queueCount",
  "readOnly",
  "readonly",
  "ready",
  "remove",
  "reservation",
  "size",
  "sockets",
  "successThreshold",
  "targetNodeDomainDetected",
  "threads",
  "timeoutSeconds",
]);

/** The same for switches except in these places, where off differs from absent. */
const offIsKept: ReadonlySet<string> = new Set(["cdrom.readonly", "containerPath.readOnly"]);

/** Strings for which empty differs from absent; with the name of their parent where needed. */
const emptyTextIsKept: ReadonlySet<string> = new Set([
  "apiGroup",
  "attachmentPodUID",
  "backupMsg",
  "checkpointName",
  "completionTimeoutFactor",
  "compression",
  "dataSourceRef.namespace",
  "domainName",
  "domainNamespace",
  "errorPolicy",
  "evictionStrategy",
  "ewmaAlpha",
  "filesystemOverhead",
  "imageStream",
  "ioThreadsPolicy",
  "memLock",
  "migrationConfiguration.network",
  "migrationPolicyName",
  "nodeAddress",
  "nodeAffinityPolicy",
  "nodeDrainTaintKey",
  "nodeTaintsPolicy",
  "nodeTopology",
  "options.value",
  "panicDevices.model",
  "patienceWindowDecayFactor",
  "persistentStatePVCName",
  "precopyPossibleFactor",
  "priority",
  "pullMethod",
  "qosClass",
  "rebootPolicy",
  "registry.certConfigMap",
  "registry.secretRef",
  "registry.url",
  "resourceClaimName",
  "resourceClaimTemplateName",
  "runStrategy",
  "sourceRef.namespace",
  "startStrategy",
  "storageClassName",
  "syncAddress",
  "timezone",
  "updateVolumesStrategy",
  "utilityVolumes.type",
  "virtualMachineInstanceUID",
  "volumeAttributesClassName",
  "volumeMode",
]);

/**
 * A copy of a checked object as KubeVirt would write it after reading it: quantities in canonical form, no empty
 * lists and maps, no zeros without a meaning, no `null`. Fields that the schema does not know are kept.
 *
 * The argument is never changed; the copy shares unknown fields with it.
 */
export function wireForm<T>(schema: Schema<T>, value: T): T {
  return written(schema, value, "") as T;
}

function written(node: SchemaNode | undefined, value: unknown, name: string): unknown {
  if (node?.kind === "nullable") return written(node.inner, value, name);
  if (typeof value !== "object" || value === null) {
    return node?.kind === "quantity" ? canonical(value) : value;
  }
  switch (node?.kind) {
    case "array":
      return Array.isArray(value) ? value.map((item) => written(node.items, item, name)) : value;
    case "map":
    case "object":
      return writtenObject(node, value as Record<string, unknown>, name);
    default:
      return value;
  }
}

function writtenObject(
  node: SchemaNode | undefined,
  value: Record<string, unknown>,
  name: string,
): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const child = value[key];
    const field = fieldOf(node, key);
    if (node?.kind === "object" && isNothing(child, { key, parent: name, ...field })) continue;
    // A key such as __proto__ must become a field, not a prototype.
    if (key === "__proto__") continue;
    copy[key] = written(field.schema, child, key);
  }
  return copy;
}

function fieldOf(
  node: SchemaNode | undefined,
  key: string,
): { schema: SchemaNode | undefined; required: boolean } {
  if (node?.kind === "map") return { schema: node.values, required: true };
  const field = node?.kind === "object" ? node.fields.get(key) : undefined;
  return { schema: field?.schema, required: field?.required ?? false };
}

interface Place {
  readonly key: string;
  readonly parent: string;
  readonly schema: SchemaNode | undefined;
  readonly required: boolean;
}

/** Whether KubeVirt would leave out the field. */
function isNothing(value: unknown, { key, parent, schema, required }: Place): boolean {
  if (value === null || value === undefined) return schema?.kind !== "nullable";
  if (required || !schema) return false;
  switch (schema.kind) {
    case "array":
      return Array.isArray(value) && value.length === 0;
    case "map":
      return typeof value === "object" && Object.keys(value).length === 0;
    case "string":
      return value === "" && !emptyTextIsKept.has(key) && !emptyTextIsKept.has(`${parent}.${key}`);
    case "integer":
      return value === 0 && zeroIsAbsent.has(key);
    case "boolean":
      return value === false && zeroIsAbsent.has(key) && !offIsKept.has(`${parent}.${key}`);
    default:
      return false;
  }
}

function canonical(value: unknown): unknown {
  if (typeof value !== "string" && typeof value !== "number") return value;
  const quantity = readQuantity(String(value).trim());
  return quantity instanceof Quantity ? quantity.toString() : value;
}
