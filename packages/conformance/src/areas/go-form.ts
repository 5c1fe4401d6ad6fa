import { wireForm } from "@virtkit/api/defaults";
import {
  DataVolumeTemplateSpecSchema,
  DomainSpecSchema,
  FeaturesSchema,
  FilesystemSchema,
  HostDiskSchema,
  MachineSchema,
  PersistentVolumeClaimSpecSchema,
  ResourceFieldSelectorSchema,
  type SchemaNode,
  StorageSpecSchema,
  TypedLocalObjectReferenceSchema,
  TypedObjectReferenceSchema,
  type Schema as TypedSchema,
  VirtualMachineConditionSchema,
  VirtualMachineInstanceConditionSchema,
  VirtualMachineInstancePhaseTransitionTimestampSchema,
  VirtualMachineInstanceSchema,
  VirtualMachineInstanceStatusSchema,
  VirtualMachineInstanceTemplateSpecSchema,
  VirtualMachineSchema,
} from "@virtkit/api/schema";

type Schema = SchemaNode;
type ObjectSchema = Extract<Schema, { kind: "object" }>;

/** Fields that Go's encoder writes although they are empty: it never leaves out a struct. */
const alwaysWritten = new Map<Schema, Readonly<Record<string, unknown>>>([
  [DomainSpecSchema, { resources: {}, devices: {} }],
  [FeaturesSchema, { acpi: {} }],
  [VirtualMachineInstanceTemplateSpecSchema, { metadata: {}, spec: {} }],
  [DataVolumeTemplateSpecSchema, { metadata: {} }],
  [StorageSpecSchema, { resources: {} }],
  [PersistentVolumeClaimSpecSchema, { resources: {} }],
  [VirtualMachineSchema, { metadata: {}, status: {} }],
  [VirtualMachineInstanceSchema, { metadata: {}, status: {} }],
  [VirtualMachineInstanceStatusSchema, { guestOSInfo: {}, runtimeUser: 0 }],
  [VirtualMachineConditionSchema, { lastProbeTime: null, lastTransitionTime: null }],
  [VirtualMachineInstanceConditionSchema, { lastProbeTime: null, lastTransitionTime: null }],
  [VirtualMachineInstancePhaseTransitionTimestampSchema, { phaseTransitionTimestamp: null }],
  [MachineSchema, { type: "" }],
  [HostDiskSchema, { capacity: "0" }],
  [ResourceFieldSelectorSchema, { divisor: "0" }],
  [TypedLocalObjectReferenceSchema, { apiGroup: null }],
  [TypedObjectReferenceSchema, { apiGroup: null }],
]);

/** Required fields that are pointers in Go, whose encoder writes `null` for a missing one. */
const pointers = new Map<Schema, string>([[FilesystemSchema, "virtiofs"]]);

/**
 * An object with its fields spelled as in the schema. Go's decoder, which recorded the answers, does not
 * distinguish `dedicatedCPUPlacement` from `dedicatedCpuPlacement`.
 */
export function readAsGo(value: unknown, schema: Schema): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (schema.kind === "nullable") return readAsGo(value, schema.inner);
  if (Array.isArray(value)) {
    return schema.kind === "array" ? value.map((item) => readAsGo(item, schema.items)) : value;
  }
  if (schema.kind !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => {
      const name = spelling(key, schema.fields);
      const node = schema.fields.get(name)?.schema;
      return [name, node ? readAsGo(field, node) : field];
    }),
  );
}

function spelling(key: string, fields: ReadonlyMap<string, unknown>): string {
  if (fields.has(key)) return key;
  const folded = key.toLowerCase();
  return [...fields.keys()].find((name) => name.toLowerCase() === folded) ?? key;
}

/** An object as Go's encoder writes it: without empty values, and with what it cannot leave out. */
export function writeAsGo(value: unknown, schema: Schema): unknown {
  return fill(wireForm(schema as TypedSchema<unknown>, value ?? {}), schema);
}

function fill(value: unknown, schema: Schema): unknown {
  if (schema.kind === "nullable") return fill(value, schema.inner);
  if (schema.kind === "array" && Array.isArray(value)) {
    return value.map((item) => fill(item ?? zero(schema.items), schema.items));
  }
  if (typeof value !== "object" || value === null) return value;
  if (schema.kind === "map") {
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, item]) => [key, fill(item ?? zero(schema.values), schema.values)]),
    );
  }
  return schema.kind === "object" ? fillObject(value, schema) : value;
}

function fillObject(value: object, schema: ObjectSchema): unknown {
  const present = { ...alwaysWritten.get(schema), ...value } as Readonly<Record<string, unknown>>;
  const fields: [string, unknown][] = [];
  for (const [name, { schema: node, required }] of schema.fields) {
    const field = Object.hasOwn(present, name) ? present[name] : undefined;
    if (field !== undefined) fields.push([name, fill(field, node)]);
    else if (pointers.get(schema) === name) fields.push([name, null]);
    else if (required) fields.push([name, fill(zero(node), node)]);
  }
  return Object.fromEntries(fields);
}

function zero(schema: Schema): unknown {
  switch (schema.kind) {
    case "object":
      return {};
    case "string":
      return "";
    case "integer":
    case "int-or-string":
    case "float":
      return 0;
    case "boolean":
      return false;
    case "quantity":
      return "0";
    default:
      return null;
  }
}
