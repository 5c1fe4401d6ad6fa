/** What went wrong, for programs. */
export type PkiErrorCode =
  /** A certificate that must not be trusted for what it was shown for. */
  | "PKI_UNTRUSTED"
  /** An argument, key or certificate that cannot be used. */
  | "PKI_INPUT_INVALID"
  /** What is stored is not a certificate authority, or others change it all the time. */
  | "PKI_STORE_INVALID";

/** Details of a {@link PkiError}. */
export interface PkiErrorOptions extends ErrorOptions {
  /** The step or field. */
  readonly path?: string | undefined;
}

/** The one error class of this package. The message names the step, what was found, and what to do. */
export class PkiError extends Error {
  override readonly name = "PkiError";
  readonly code: PkiErrorCode;
  readonly path: string | undefined;

  constructor(code: PkiErrorCode, message: string, { path, ...options }: PkiErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.path = path;
  }
}

/** Whether a caught value is a {@link PkiError}; by name, so that two copies of this package agree. */
export function isPkiError(value: unknown): value is PkiError {
  return value instanceof Error && value.name === "PkiError";
}
