/** What went wrong, for programs; each literal belongs to one subpath of the package. */
export type ApiErrorCode =
  /** Text that does not look like a number with a suffix. */
  | "API_QUANTITY_SHAPE"
  /** An unknown suffix of a quantity. */
  | "API_QUANTITY_SUFFIX"
  /** A suffix without a number. */
  | "API_QUANTITY_DIGITS"
  /** A number or text beyond the limits of this implementation. */
  | "API_QUANTITY_SIZE"
  /** An argument that is not a whole number. */
  | "API_QUANTITY_INVALID"
  /** A cluster configuration that KubeVirt would refuse. */
  | "API_CONFIG_INVALID"
  /** A value that cannot be part of a name or path. */
  | "API_NAME_INVALID"
  /** The cluster's configuration leaves no valid default. */
  | "API_DEFAULTS_IMPOSSIBLE"
  /** An object that does not have the shape of its kind, or none at all. */
  | "API_OBJECT_MALFORMED";

/** Details of an {@link ApiError}. */
export interface ApiErrorOptions extends ErrorOptions {
  /** The path in the given object, such as `spec.domain.memory.guest`. */
  readonly path?: string;
}

/** The error class of this package. The message names the field, what was found, and what to do. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ApiErrorCode;
  readonly path: string | undefined;

  constructor(code: ApiErrorCode, message: string, { path, ...options }: ApiErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.path = path;
  }
}

/**
 * Whether a caught value is an {@link ApiError}. Checked by name, so it also works across two copies of this
 * package.
 */
export function isApiError(value: unknown): value is ApiError {
  return value instanceof Error && value.name === "ApiError";
}
