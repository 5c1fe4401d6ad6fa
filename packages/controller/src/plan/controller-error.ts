/** The kind of a {@link ControllerError}, for programs. */
export type ControllerErrorCode =
  /** A pass could not do everything that it should; repeat it. */
  | "CONTROLLER_PASS_INCOMPLETE"
  /** Not enough is known yet to decide anything. */
  | "CONTROLLER_NOT_SYNCED";

/** Details of a {@link ControllerError}. */
export interface ControllerErrorOptions extends ErrorOptions {
  /** The object concerned, as `namespace/name`. */
  readonly path?: string | undefined;
  /** The reason given by the VMI's condition or by the API server. */
  readonly reason?: string | undefined;
}

/**
 * The error class of this package. The message names the object, what was found, and what follows.
 */
export class ControllerError extends Error {
  override readonly name = "ControllerError";
  readonly code: ControllerErrorCode;
  readonly path: string | undefined;
  readonly reason: string | undefined;

  constructor(
    code: ControllerErrorCode,
    message: string,
    { path, reason, ...options }: ControllerErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.path = path;
    this.reason = reason;
  }
}

/**
 * Whether a caught value is a {@link ControllerError}. Checked by name, so it also works across two copies of this
 * package.
 */
export function isControllerError(value: unknown): value is ControllerError {
  return value instanceof Error && value.name === "ControllerError";
}
