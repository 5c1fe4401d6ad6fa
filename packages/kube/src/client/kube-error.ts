/** The kind of a {@link KubeError}, for programs. */
export type KubeErrorCode =
  /** The server answered with a failure: see `status` and `reason`. */
  | "KUBE_STATUS"
  /** No answer: the connection failed or broke. Whether a write took effect is not known. */
  | "KUBE_CONNECTION"
  /** No answer in time. Whether a write took effect is not known. */
  | "KUBE_TIMEOUT"
  /** The answer is not what a Kubernetes API server sends. */
  | "KUBE_ANSWER_INVALID"
  /** An argument or a configuration that cannot be used. */
  | "KUBE_INPUT_INVALID"
  /** The caller's signal ended it. */
  | "KUBE_ABORTED"
  /** A reconciler says that trying again does not help; see `terminalError`. */
  | "KUBE_TERMINAL"
  /** The lease is no longer ours: somebody else may be at work. */
  | "KUBE_LEASE_LOST";

/** One cause in a server's `Status`, such as an invalid field. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** Details of a {@link KubeError}. */
export interface KubeErrorOptions extends ErrorOptions {
  /** What was asked, as `GET /api/v1/pods`, or the field of a configuration. */
  readonly path?: string | undefined;
  /** The HTTP status. */
  readonly status?: number | undefined;
  /** Kubernetes's reason, as `NotFound` or `AlreadyExists`. */
  readonly reason?: string | undefined;
  readonly causes?: readonly StatusCause[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** The one error class of this package. The message names the request, what was found, and what to do. */
export class KubeError extends Error {
  override readonly name = "KubeError";
  readonly code: KubeErrorCode;
  readonly path: string | undefined;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly causes: readonly StatusCause[];
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: KubeErrorCode,
    message: string,
    { path, status, reason, causes = [], retryAfterSeconds, ...options }: KubeErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.path = path;
    this.status = status;
    this.reason = reason;
    this.causes = causes;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Whether a caught value is a {@link KubeError}. Checked by name, so it also works across two copies of this
 * package.
 */
export function isKubeError(value: unknown): value is KubeError {
  return value instanceof Error && value.name === "KubeError";
}

/**
 * Whether the server said that the object does not exist. A 404 for a resource that is not served has no reason,
 * and does not count.
 */
export function isNotFound(value: unknown): boolean {
  return isKubeError(value) && value.status === 404 && value.reason === "NotFound";
}

/** Whether somebody else was faster, or the object is no longer the same one. */
export function isConflict(value: unknown): boolean {
  return isKubeError(value) && value.status === 409 && value.reason !== "AlreadyExists";
}

/** Whether an object of this name already exists. */
export function isAlreadyExists(value: unknown): boolean {
  return isKubeError(value) && value.reason === "AlreadyExists";
}

/** Whether a list or watch must start over, because the version that it asked for was compacted. */
export function isExpired(value: unknown): boolean {
  return isKubeError(value) && (value.status === 410 || value.reason === "Expired");
}

/** Whether there was no answer: a write may have taken effect, or may still do so. */
export function isUncertain(value: unknown): boolean {
  return (
    isKubeError(value) &&
    (value.code === "KUBE_CONNECTION" ||
      value.code === "KUBE_TIMEOUT" ||
      value.code === "KUBE_ABORTED" ||
      value.code === "KUBE_ANSWER_INVALID" ||
      (value.status ?? 0) >= 500)
  );
}
