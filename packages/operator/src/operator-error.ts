/** What can go wrong with an installation. */
export type OperatorErrorCode =
  /** VMs exist, and removing the installation would leave nobody to end them. */
  | "OPERATOR_VMS_EXIST"
  /** A component did not become ready in time. */
  | "OPERATOR_NOT_READY";

/** The one error class of this package. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
  readonly code: OperatorErrorCode;

  constructor(code: OperatorErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether a caught value is an {@link OperatorError}; by name, so that two copies of this package agree. */
export function isOperatorError(value: unknown): value is OperatorError {
  return value instanceof Error && value.name === "OperatorError";
}
