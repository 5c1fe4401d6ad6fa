/** What went wrong, for programs. */
export type LabErrorCode =
  | "LAB_PROGRAM_FAILED"
  | "LAB_NOT_READY"
  | "LAB_GUEST_BUILD"
  | "LAB_CLUSTER"
  | "LAB_IN_USE"
  | "LAB_IMAGE";

/** The one error class of this package. */
export class LabError extends Error {
  override readonly name = "LabError";
  readonly code: LabErrorCode;

  constructor(code: LabErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether a caught value is a {@link LabError}; by name, so that two copies of this package agree. */
export function isLabError(value: unknown): value is LabError {
  return value instanceof Error && value.name === "LabError";
}
