import type { Cause, Mutation } from "@virtkit/api/admission";
import { checkObject, prune, type Schema, schemaFor } from "@virtkit/api/schema";
import { fieldPath } from "../field-path.ts";
import type { Fault } from "./checker.ts";

/** The object as webhooks see it: the API server drops unknown fields before. */
export function pruned(object: unknown, group: string): unknown {
  const schema = schemaFor(object, { group });
  return schema ? prune(schema as Schema<unknown>, object) : object;
}

/** Every cause of a refusal, with its field. */
export function causeFaults(causes: readonly Cause[]): readonly Fault[] {
  return causes.map(({ message }) => ({ code: "admission", path: subject(message), message }));
}

/**
 * Why the mutating webhook refused an object. If it could not even read the object it gives no causes; the
 * schema finds those again.
 */
export function refusalFaults(
  object: unknown,
  { causes, message }: Extract<Mutation, { allowed: false }>,
  group: string,
): readonly Fault[] {
  if (causes.length > 0) return causeFaults(causes).map((fault) => ({ ...fault, last: true }));
  // Missing fields are filled in before it is read, so they were not the cause.
  const issues = checkObject(object, { group }).issues.filter(({ code }) => code !== "required");
  return issues.length > 0 ? issues : [{ code: "admission", path: subject(message), message }];
}

/** A message starts with its field, even if the reported path is KubeVirt's odd one. */
function subject(message: string): Fault["path"] {
  const [field = ""] = message.split(" ", 1);
  return /^(spec|metadata|status)\b/.test(field) ? fieldPath(field) : [];
}
