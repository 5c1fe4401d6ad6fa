import type { Cause } from "./cause.ts";
import { type Decoded, summary } from "./decode.ts";

/** The answer of a validating webhook. */
export type Admission =
  | { readonly allowed: true; readonly causes: readonly []; readonly warnings: readonly string[] }
  | Refusal;

/** Why a request is refused. */
export interface Refusal {
  readonly allowed: false;
  /**
   * HTTP status: 422 the object is wrong, 400 it cannot be read or does not fit what exists, 429 try again
   * later.
   */
  readonly code: 400 | 422 | 429;
  /** All causes in one string, for people. */
  readonly message: string;
  /** Everything that is wrong with the object, in the order of the rules; empty with 400 and 429. */
  readonly causes: readonly Cause[];
  readonly warnings: readonly [];
}

/** The answer that allows a request. */
export function allow(warnings: readonly string[] = []): Admission {
  return { allowed: true, causes: [], warnings };
}

/** The answer for an object that breaks rules; allowed if there are no causes. */
export function judge(causes: readonly Cause[], warnings: readonly string[] = []): Admission {
  return causes.length === 0 ? allow(warnings) : refuseFor(causes);
}

/** The answer to an object that breaks rules. */
export function refuseFor(causes: readonly Cause[]): Refusal {
  return { allowed: false, code: 422, message: summary(causes), causes, warnings: [] };
}

/** The answer to a request that is not possible at present. */
export function refuse(code: 400 | 429, message: string): Refusal {
  return { allowed: false, code, message, causes: [], warnings: [] };
}

/** The answer to an object that does not have the shape of its kind. */
export function refuseShape(decoded: Extract<Decoded<unknown>, { ok: false }>): Refusal {
  const { code, message, causes } = decoded;
  return { allowed: false, code, message, causes, warnings: [] };
}
