import {
  type IntegerFormat,
  ObjectMetaSchema,
  quantityPattern,
  type Rules,
  type SchemaNode,
  type Validation,
} from "../schema/index.ts";

/** A structural schema of `apiextensions.k8s.io/v1`; only the parts used here. */
export interface StructuralSchema {
  type?: "array" | "boolean" | "integer" | "number" | "object" | "string";
  format?: string;
  nullable?: true;
  default?: string | boolean | number;
  enum?: readonly string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  anyOf?: readonly StructuralSchema[];
  required?: readonly string[];
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  "x-kubernetes-int-or-string"?: true;
  "x-kubernetes-list-type"?: "atomic" | "map" | "set";
  "x-kubernetes-list-map-keys"?: readonly string[];
  "x-kubernetes-map-type"?: "atomic";
  "x-kubernetes-preserve-unknown-fields"?: true;
  "x-kubernetes-validations"?: readonly Validation[];
}

/**
 * The structural schema of a whole object.
 *
 * Its own metadata is left open, as the API server requires; nested metadata (of a template) is kept but not
 * checked. Known values of a string become an enum only if the schema is closed. Admission's checks are not
 * repeated.
 */
export function structuralSchema(root: SchemaNode): StructuralSchema {
  const schema = convert(root);
  if (schema.properties?.["metadata"]) schema.properties["metadata"] = { type: "object" };
  return schema;
}

function convert(node: SchemaNode): StructuralSchema {
  // Rules and metadata of templates come from the outside in, so the type is written first.
  if (isObjectMeta(node)) {
    return { type: "object", nullable: true, "x-kubernetes-preserve-unknown-fields": true };
  }
  return { ...typeOf(node), ...(node.rules && ruled(node, node.rules)) };
}

function isObjectMeta(node: SchemaNode): boolean {
  return (
    node.kind === "object" &&
    ObjectMetaSchema.kind === "object" &&
    node.fields === ObjectMetaSchema.fields
  );
}

const integerFormats: Readonly<Record<IntegerFormat, StructuralSchema>> = {
  int: { type: "integer" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  uint: { type: "integer" },
  uint8: { type: "integer" },
  uint32: { type: "integer", format: "int32" },
  uint64: { type: "integer", format: "int64" },
};

/**
 * A bound that 32 bits cannot hold needs the wider format; otherwise the API server refuses values below it.
 */
function integerOf(format: IntegerFormat, maximum: number): StructuralSchema {
  return maximum < 2 ** 31 ? integerFormats[format] : integerFormats.int64;
}

const intOrString: StructuralSchema = {
  anyOf: [{ type: "integer" }, { type: "string" }],
  "x-kubernetes-int-or-string": true,
};

function typeOf(node: SchemaNode): StructuralSchema {
  switch (node.kind) {
    case "string":
      return { type: "string", ...(node.format === "date-time" && { format: node.format }) };
    case "boolean":
      return { type: "boolean" };
    case "integer":
      return integerOf(node.format, node.rules?.maximum ?? 0);
    case "float":
      return { type: "number" };
    case "quantity":
      return { ...intOrString, pattern: quantityPattern };
    case "int-or-string":
      return intOrString;
    case "array":
      return {
        type: "array",
        items: convert(node.items),
        ...(node.listType && { "x-kubernetes-list-type": node.listType }),
        ...(node.listMapKeys && { "x-kubernetes-list-map-keys": node.listMapKeys }),
      };
    case "map":
      return { type: "object", additionalProperties: convert(node.values) };
    case "any-object":
      return { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    case "nullable":
      return { ...convert(node.inner), nullable: true };
    case "object":
      return objectOf(node);
  }
}

function objectOf({ fields, required }: SchemaNode & { kind: "object" }): StructuralSchema {
  const properties: Record<string, StructuralSchema> = {};
  for (const [name, { schema }] of fields) properties[name] = convert(schema);
  return {
    type: "object",
    ...(required.length > 0 && { required }),
    ...(fields.size > 0 && { properties }),
  };
}

function ruled(node: SchemaNode, rules: Rules): StructuralSchema {
  const { closed, preserveUnknownFields, atomic, validations, ...plain } = rules;
  const known = closed && node.kind === "string" ? node.known : undefined;
  return {
    ...plain,
    ...(known && { enum: known }),
    ...(atomic && { "x-kubernetes-map-type": "atomic" }),
    ...(preserveUnknownFields && { "x-kubernetes-preserve-unknown-fields": true }),
    ...(validations && { "x-kubernetes-validations": validations }),
  };
}
