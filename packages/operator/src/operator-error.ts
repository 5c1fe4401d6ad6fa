/** The code of an {@link OperatorError}. */
export type OperatorErrorCode =
  /** VMs exist, and removing the installation would leave nobody to end them. */
  | "OPERATOR_VMS_EXIST"
  /** KubeVirt is installed under the same names. */
  | "OPERATOR_KUBEVIRT_EXISTS"
  /** The components run in another namespace than the one that was named. */
  | "OPERATOR_OTHER_NAMESPACE"
  /** A component did not end in time, so its account and its definitions were not removed. */
  | "OPERATOR_NOT_ENDED"
  /** A component did not become ready in time. */
  | "OPERATOR_NOT_READY";

/** The error class of this package. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
  readonly code: OperatorErrorCode;

  constructor(code: OperatorErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Whether a caught value is an {@link OperatorError}. Checked by name, so it also works across two copies of
 * this package.
 */
export function isOperatorError(value: unknown): value is OperatorError {
  return value instanceof Error && value.name === "OperatorError";
}
