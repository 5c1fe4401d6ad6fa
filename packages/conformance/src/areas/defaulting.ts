import { mutate } from "@virtkit/api/admission";
import {
  type SchemaNode,
  VirtualMachineInstanceMigrationSchema,
  VirtualMachineInstanceSchema,
  VirtualMachineSchema,
} from "@virtkit/api/schema";
import type { BatchFunction } from "../batch/batch-area.ts";
import { writeAsGo } from "./go-form.ts";
import { admissionRequest, contextConfig, contextTime, requestContext } from "./request-context.ts";

/** Stands for every generated UUID, so that answers can be compared. */
const generated = "<generated>";

/** Stands for the time of every request without one. */
const pinnedTime = Date.parse("2026-01-01T00:00:00Z");

/** The mutating webhook: the object with its defaults. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  mutate: (input, given) => {
    const context = requestContext(given);
    const now = new Date(contextTime(context) ?? pinnedTime);
    const request = admissionRequest(input, context);
    const mutation = mutate(request, contextConfig(context), {
      uuid: () => generated,
      now: () => now,
    });
    if (!mutation.allowed) {
      const { allowed, code, message } = mutation;
      return { allowed, code, message };
    }
    const { object, patch, warnings } = mutation;
    const parts = patch.map(({ path, value }) => written(request.kind, path.slice(1), value));
    return {
      allowed: true,
      object: parts.length > 0 ? { ...Object(object), ...Object.fromEntries(parts) } : object,
      ...(patch.length > 0 ? { patchOps: patch.map(({ op, path }) => `${op} ${path}`) } : {}),
      ...(warnings.length > 0 ? { warnings } : {}),
    };
  },
};

const schemas: Readonly<Record<string, SchemaNode>> = {
  VirtualMachine: VirtualMachineSchema,
  VirtualMachineInstance: VirtualMachineInstanceSchema,
  VirtualMachineInstanceMigration: VirtualMachineInstanceMigrationSchema,
};

/** A part of a patch as KubeVirt writes it: whole Go structs, with zeros that ours leave out. */
function written(kind: string, part: string, value: unknown): readonly [string, unknown] {
  const schema = schemas[kind];
  const field = schema?.kind === "object" ? schema.fields.get(part) : undefined;
  return [part, field ? writeAsGo(value, field.schema) : value];
}
