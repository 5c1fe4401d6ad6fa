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
  /** The object that is the reason. */
  readonly details?: { readonly kind: string; readonly name: string };
}

/** Reasons of Kubernetes, as a `Status` names them. */
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

/** The object is in a state in which this cannot be done. */
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

/** There is no such object. */
export function notFound(owner: SubresourceOwner, name: string): Refusal {
  const message = `there is no ${owner} "${name}"`;
  return {
    kind: "refused",
    code: 404,
    reason: "NotFound",
    message,
    details: { kind: owner, name },
  };
}

/** The request itself makes no sense. */
export function badRequest(message: string): Refusal {
  return { kind: "refused", code: 400, reason: "BadRequest", message };
}

/** The object as it is declared does not allow this, in whatever state it is. */
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

/** What KubeVirt answers with 500, though the state of the object is the reason. */
export function internalError(message: string): Refusal {
  return { kind: "refused", code: 500, reason: "InternalError", message };
}
