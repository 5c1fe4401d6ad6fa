import { isObject } from "../shape.ts";
import type { Holder } from "./grant.ts";
import { isHolder } from "./grant-annotation.ts";

/**
 * Name of the annotation in which a target's node agent says which incarnation receives the guest:
 * `names().own(targetHolderAnnotation)`.
 */
export const targetHolderAnnotation = "migration-target";

const mostCharacters = 4096;

/** The incarnation that is ready to receive the guest of a migration. */
export interface TargetHolder {
  readonly migrationUID: string;
  readonly holder: Holder;
}

/** The annotation's value. */
export function writeTargetHolder({ migrationUID, holder }: TargetHolder): string {
  return JSON.stringify({ migrationUID, holder });
}

/** Reads the annotation; undefined if it is absent or malformed. */
export function readTargetHolder(value: unknown): TargetHolder | undefined {
  if (typeof value !== "string" || value.length > mostCharacters) return undefined;
  let fields: unknown;
  try {
    fields = JSON.parse(value);
  } catch {
    // Malformed: nothing is handed over then, and the target's agent writes it again.
    return undefined;
  }
  if (!isObject(fields) || typeof fields["migrationUID"] !== "string") return undefined;
  const { migrationUID, holder } = fields;
  return isHolder(holder) ? { migrationUID, holder } : undefined;
}
