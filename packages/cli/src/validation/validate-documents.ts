import type { ClusterConfig } from "@virtkit/api/config";
import { formatPath } from "@virtkit/api/schema";
import type { ManifestDocument, Position } from "@virtkit/node-agent/manifests";
import type { Checker, CheckerContext, Fault } from "./checker.ts";
import { checkers } from "./checkers.ts";
import { isForeign } from "./is-foreign.ts";

/** A fault and where it stands. */
export interface Finding extends Position {
  readonly source: string;
  readonly code: string;
  readonly message: string;
  /** The object, where the text was readable: `VirtualMachine/name`. */
  readonly object?: string;
  /** The field in the object. */
  readonly path?: string;
}

/** What came of the objects. */
export interface Validation {
  /** How many objects were checked. */
  readonly checked: number;
  /** How many were passed over: kinds of other API groups. */
  readonly skipped: number;
  readonly findings: readonly Finding[];
}

/** How objects are checked. */
export interface ValidationOptions {
  /** Report fields that nobody knows, and objects of other API groups. */
  readonly strict: boolean;
  /** Leave out all checkers but the schema. */
  readonly schemaOnly: boolean;
  readonly config: ClusterConfig;
  /** Default: every checker there is. */
  readonly checkers?: readonly Checker[];
}

/** Checks every object; those of API groups that are not KubeVirt's are passed over unless strict. */
export async function validateDocuments(
  documents: readonly ManifestDocument[],
  { strict, schemaOnly, config, checkers: all = checkers }: ValidationOptions,
): Promise<Validation> {
  const context = { strict, config };
  const used = schemaOnly ? all.slice(0, 1) : all;
  const findings: Finding[] = [];
  let skipped = 0;
  for (const document of documents) {
    if (!strict && isForeign(document.value, config.names.group)) {
      skipped++;
      continue;
    }
    for (const fault of await firstFaults(document.value, used, context)) {
      findings.push(locate(fault, document));
    }
  }
  return { checked: documents.length - skipped, skipped, findings };
}

async function firstFaults(
  object: unknown,
  used: readonly Checker[],
  context: CheckerContext,
): Promise<readonly Fault[]> {
  const { kind } = Object(object) as { kind?: string };
  for (const { kinds, load } of used) {
    if (kinds && !kinds.includes(String(kind))) continue;
    const faults = (await load()).check(object, context);
    if (faults.length > 0) return faults;
  }
  return [];
}

function locate({ code, path, message }: Fault, document: ManifestDocument): Finding {
  const { source, value } = document;
  const { kind, metadata } = Object(value) as Record<string, unknown>;
  const { name } = Object(metadata) as Record<string, unknown>;
  return {
    source,
    ...document.position(path),
    object: [kind, name].map((part) => short(part)).join("/"),
    path: formatPath(path),
    code,
    message,
  };
}

function short(part: unknown): string {
  return typeof part === "string" && part !== "" ? part.slice(0, 253) : "?";
}
