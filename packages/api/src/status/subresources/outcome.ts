import type { Write } from "../plan.ts";

/** The outcome of a request to a subresource. */
export type SubresourceOutcome = Accepted | Refusal;

/** The request is accepted; these writes carry it out. */
export interface Accepted {
  readonly kind: "accepted";
  readonly code: 202;
  readonly writes: readonly Write[];
}

/** The request is refused; the fields are those of a Kubernetes `Status`. */
export interface Refusal {
  readonly kind: "refused";
  readonly code: number;
  readonly reason: RefusalReason;
  readonly message: string;
  /** The object concerned. */
  readonly details?: { readonly kind: string; readonly name: string };
}

/** Kubernetes' reasons in a `Status`. */
export type RefusalReason =
  | "BadRequest"
  | "Conflict"
  | "Forbidden"
  | "InternalError"
  | "Invalid"
  | "MethodNotAllowed"
  | "NotFound"
  | "TooManyRequests"
  | "UnsupportedMediaType";

/** The kinds of object that a refusal can be about. */
export type SubresourceOwner =
  | "virtualmachine"
  | "virtualmachineinstance"
  | "persistentvolumeclaim"
  | "node";

/** Granted. */
export function accepted(writes: readonly Write[]): Accepted {
  return { kind: "accepted", code: 202, writes };
}

/** The state of the object does not allow this. */
export function conflict(owner: SubresourceOwner, name: string, why: string): Refusal {
  const message = `${owner} "${name}" cannot do this now: ${why}`;
  return {
    kind: "refused",
    code: 409,
    reason: "Conflict",
    message,
    details: { kind: owner, name },
  };
}

/** The object does not exist. */
export function notFound(owner: SubresourceOwner, name: string): Refusal {
  const message = `${owner} "${name}" does not exist`;
  return {
    kind: "refused",
    code: 404,
    reason: "NotFound",
    message,
    details: { kind: owner, name },
  };
}

/** The request itself is invalid. */
export function badRequest(message: string): Refusal {
  return { kind: "refused", code: 400, reason: "BadRequest", message };
}

/** The object's declaration does not allow this, whatever its state. */
export function forbidden(owner: SubresourceOwner, name: string, why: string): Refusal {
  const message = `${owner} "${name}" does not allow this: ${why}`;
  return {
    kind: "refused",
    code: 403,
    reason: "Forbidden",
    message,
    details: { kind: owner, name },
  };
}

/** What KubeVirt answers with 500, although the state of the object is the reason. */
export function internalError(message: string): Refusal {
  return { kind: "refused", code: 500, reason: "InternalError", message };
}
