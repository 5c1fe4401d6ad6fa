import { KubeError, type StatusCause } from "@virtkit/kube";

/** What an API server answers to a request that it refuses. */
export interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** A refusal as clients see it. */
export function statusError({ message, ...refusal }: Refusal): KubeError {
  return new KubeError("KUBE_STATUS", message, refusal);
}

export function notFound(plural: string, name: string): KubeError {
  return statusError({ status: 404, reason: "NotFound", message: `${plural} "${name}" not found` });
}

/** What a server answers to a path that it does not have, as that of a kind that is not served: no reason. */
export function noSuchPath(): KubeError {
  return new KubeError("KUBE_STATUS", "the server could not find the requested resource", {
    status: 404,
  });
}

export function alreadyExists(plural: string, name: string): KubeError {
  const message = `${plural} "${name}" already exists`;
  return statusError({ status: 409, reason: "AlreadyExists", message });
}

export function conflict(plural: string, name: string, why: string): KubeError {
  const message = `${plural} "${name}" cannot be changed: ${why}`;
  return statusError({ status: 409, reason: "Conflict", message });
}

export function invalid(plural: string, name: string, causes: readonly StatusCause[]): KubeError {
  const told = causes.map(({ field, message }) => `${field}: ${message}`).join("; ");
  const message = `${plural} "${name}" is invalid: ${told}`;
  return statusError({ status: 422, reason: "Invalid", message, causes });
}

export function badRequest(message: string): KubeError {
  return statusError({ status: 400, reason: "BadRequest", message });
}

export function expired(message: string): KubeError {
  return statusError({ status: 410, reason: "Expired", message });
}
