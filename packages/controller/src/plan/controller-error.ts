/** The kind of a {@link ControllerError}, for programs. */
export type ControllerErrorCode =
  /** A pass could not do all that it should; it is to be repeated. */
  | "CONTROLLER_PASS_INCOMPLETE"
  /** What is known is not complete yet, so that nothing may be decided. */
  | "CONTROLLER_NOT_SYNCED";

/** Details of a {@link ControllerError}. */
export interface ControllerErrorOptions extends ErrorOptions {
  /** The object that it is about, as `namespace/name`. */
  readonly path?: string | undefined;
  /** As the VMI's condition or the API server gives it. */
  readonly reason?: string | undefined;
}

/** The one error class of this package. The message names the object, what was found, and what follows. */
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
