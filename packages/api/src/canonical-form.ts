import { readQuantity } from "./quantity/index.ts";
import type { FieldNode, ObjectNode, SchemaNode } from "./schema/schema.ts";
import { isObject, isSet } from "./shape.ts";

/**
 * Numbers and booleans for which zero and false say no more than their absence. Of all others (a grace
 * period of 0, `secureBoot: false`) the explicit value means something. From KubeVirt's Go types: these
 * are the fields that are no pointers.
 */
const emptyWhenZero: ReadonlySet<string> = new Set([
  "acpiIndex",
  "completed",
  "consecutiveFailCount",
  "cores",
  "created",
  "dedicatedCpuPlacement",
  "default",
  "desiredGeneration",
  "disableHotplug",
  "endOfInterrupt",
  "failed",
  "failureThreshold",
  "hidden",
  "hotpluggable",
  "initialDelaySeconds",
  "isolateEmulatorThread",
  "maxSockets",
  "observedGeneration",
  "overcommitGuestOverhead",
  "periodSeconds",
  "preallocated",
  "readOnly",
  "ready",
  "remove",
  "reservation",
  "sockets",
  "successThreshold",
  "threads",
  "timeoutSeconds",
]);

/**
 * An object in the one form that all spellings of it share, so that two of them can be compared: without
 * fields that say nothing (`null`, empty texts, lists and maps, zeros that are no statement) and without
 * fields that the schema does not know; quantities in their canonical text; fields in the schema's
 * order. An empty object stays: `rng: {}` asks for a device.
 *
 * @returns `undefined` for a value that says nothing. What does not have the schema's shape is returned
 * as it is.
 */
export function canonicalForm(value: unknown, schema: SchemaNode): unknown {
  if (!isSet(value) || value === "") return undefined;
  switch (schema.kind) {
    case "quantity":
      return canonicalQuantity(value);
    case "array":
      return Array.isArray(value) ? canonicalList(value, schema.items) : value;
    case "map":
      return isObject(value) ? canonicalMap(value, schema.values) : value;
    case "object":
      return isObject(value) ? canonicalObject(value, schema) : value;
    case "nullable":
      return canonicalForm(value, schema.inner);
    default:
      return value;
  }
}

/** Whether two values of one schema say the same, however they are written. */
export function sameMeaning(a: unknown, b: unknown, schema: SchemaNode): boolean {
  return JSON.stringify(canonicalForm(a, schema)) === JSON.stringify(canonicalForm(b, schema));
}

function canonicalQuantity(value: unknown): unknown {
  if (typeof value !== "string" && typeof value !== "number") return value;
  const quantity = readQuantity(String(value));
  return typeof quantity === "string" ? value : quantity.toString();
}

function canonicalList(list: readonly unknown[], items: SchemaNode): unknown {
  if (list.length === 0) return undefined;
  return list.map((item) => canonicalForm(item, items) ?? null);
}

function canonicalMap(map: Readonly<Record<string, unknown>>, values: SchemaNode): unknown {
  const entries = Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return undefined;
  return Object.fromEntries(
    entries.map(([key, value]) => [key, canonicalForm(value, values) ?? ""]),
  );
}

function canonicalObject(value: Readonly<Record<string, unknown>>, schema: ObjectNode): unknown {
  const entries: [string, unknown][] = [];
  for (const [name, field] of schema.fields) {
    const found = Object.hasOwn(value, name) ? value[name] : undefined;
    const canonical = canonicalForm(found, field.schema);
    if (canonical !== undefined && !isEmptyZero(name, canonical, field, schema)) {
      entries.push([name, canonical]);
    }
  }
  return Object.fromEntries(entries);
}

function isEmptyZero(name: string, value: unknown, field: FieldNode, owner: ObjectNode): boolean {
  if (field.required || (value !== 0 && value !== false)) return false;
  // A CD-ROM's `readonly` is a statement (it is read-only unless told), a disk's is not.
  if (name === "readonly") return !owner.fields.has("tray");
  return emptyWhenZero.has(name);
}
