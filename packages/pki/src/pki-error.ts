/** The code of a {@link PkiError}, for programs. */
export type PkiErrorCode =
  /** A certificate that must not be trusted for this use. */
  | "PKI_UNTRUSTED"
  /** An argument, key or certificate that cannot be used. */
  | "PKI_INPUT_INVALID"
  /** The stored content is not a certificate authority, or others change it all the time. */
  | "PKI_STORE_INVALID";

/** Details of a {@link PkiError}. */
export interface PkiErrorOptions extends ErrorOptions {
  /** The step or field. */
  readonly path?: string | undefined;
}

/** The error class of this package. The message names the step, what was found, and what to do. */
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

/**
 * Whether a caught value is a {@link PkiError}. Checked by name, so it also works across two copies of this
 * package.
 */
export function isPkiError(value: unknown): value is PkiError {
  return value instanceof Error && value.name === "PkiError";
}
