import {
  type AdmissionKind,
  admit,
  admitMigrationPolicy,
  type Cause,
  mutate,
} from "@virtkit/api/admission";
import type { ClusterConfig } from "@virtkit/api/config";
import { prune, type Schema, schemaFor } from "@virtkit/api/schema";
import { fieldPath } from "../field-path.ts";
import type { CheckerContext, Fault } from "./checker.ts";

/**
 * What the webhooks of the cluster would refuse when the object is created: first it is defaulted,
 * then judged. What depends on other objects of the cluster is not known here and not judged.
 */
export function check(object: unknown, { strict, config }: CheckerContext): readonly Fault[] {
  const { kind } = Object(object) as { kind?: string };
  if (kind === "MigrationPolicy") {
    return faults(admitMigrationPolicy({ object }, config).causes);
  }
  // The API server drops what it does not know before the webhooks see it, unless asked not to.
  const sent = strict ? object : pruned(object);
  return webhooks(kind as AdmissionKind, sent, config);
}

function pruned(object: unknown): unknown {
  const schema = schemaFor(object);
  return schema ? prune(schema as Schema<unknown>, object) : object;
}

function webhooks(kind: AdmissionKind, object: unknown, config: ClusterConfig): readonly Fault[] {
  const mutation = mutate({ kind, operation: "CREATE", object }, config);
  if (!mutation.allowed) {
    const { causes, message } = mutation;
    return causes.length > 0 ? faults(causes) : [{ code: "admission", path: [], message }];
  }
  return faults(admit({ kind, operation: "CREATE", object: mutation.object }, config).causes);
}

function faults(causes: readonly Cause[]): readonly Fault[] {
  return causes.map(({ message }) => ({ code: "admission", path: subject(message), message }));
}

/** A message starts with the field it is about, also where the reported path is KubeVirt's odd one. */
function subject(message: string): Fault["path"] {
  const [field = ""] = message.split(" ", 1);
  return /^(spec|metadata|status)\b/.test(field) ? fieldPath(field) : [];
}
