/** What went wrong, for programs. */
export type DomainManagerErrorCode =
  /**
   * The proof that the guest may run here is missing, malformed, outdated, or belongs to another
   * guest.
   */
  | "DOMAIN_NOT_GRANTED"
  /** libvirt has no such domain. */
  | "DOMAIN_MISSING"
  /** The domain is in a state in which this cannot be done. */
  | "DOMAIN_STATE"
  /** The VMI cannot be converted to a domain, or a change cannot be applied while it runs. */
  | "DOMAIN_VMI_INVALID"
  /**
   * A disk cannot be created or changed: no space, no source, or something unexpected; see the
   * cause.
   */
  | "DOMAIN_DISK"
  /** The guest agent does not answer, answers nonsense, or answers too much. */
  | "DOMAIN_AGENT"
  /** An argument is invalid. */
  | "DOMAIN_ARGUMENT"
  /** It took longer than the caller allowed. */
  | "DOMAIN_TIMEOUT"
  /** libvirt refused, or the connection to it is gone. */
  | "DOMAIN_LIBVIRT"
  /** A newer client has taken the guest's console or screen. */
  | "DOMAIN_STREAM_TAKEN"
  /** Another client has the guest's console or screen and must not be disturbed. */
  | "DOMAIN_STREAM_BUSY"
  /** Nobody answers at the guest's console or screen. */
  | "DOMAIN_STREAM_LOST";

/** Where it went wrong. */
export interface DomainManagerErrorOptions {
  /** Field, device or step. */
  readonly path?: string | undefined;
  readonly cause?: unknown;
}

/** The only error that the domain manager throws intentionally. */
export class DomainManagerError extends Error {
  override readonly name = "DomainManagerError";
  readonly code: DomainManagerErrorCode;
  readonly path: string | undefined;

  constructor(
    code: DomainManagerErrorCode,
    message: string,
    { path, cause }: DomainManagerErrorOptions = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.path = path;
  }
}

/** Whether a thrown value is a {@link DomainManagerError}, from any copy of this package. */
export function isDomainManagerError(error: unknown): error is DomainManagerError {
  return error instanceof Error && error.name === "DomainManagerError" && "code" in error;
}
