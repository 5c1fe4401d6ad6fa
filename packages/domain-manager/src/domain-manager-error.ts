/** What went wrong, for programs. */
export type DomainManagerErrorCode =
  /** The proof that the guest may run here is missing, malformed, of another guest, or out of date. */
  | "DOMAIN_NOT_GRANTED"
  /** libvirt has no such domain. */
  | "DOMAIN_MISSING"
  /** The domain is in a state in which this cannot be done. */
  | "DOMAIN_STATE"
  /** The VMI cannot be made into a domain, or a change to it cannot be made while it runs. */
  | "DOMAIN_VMI_INVALID"
  /** A disk cannot be made or changed: no space, no source, or not what it should be; the cause says which. */
  | "DOMAIN_DISK"
  /** The guest agent does not answer, answers nonsense, or answers more than is taken. */
  | "DOMAIN_AGENT"
  /** An argument is not what it must be. */
  | "DOMAIN_ARGUMENT"
  /** It took longer than the caller gave it. */
  | "DOMAIN_TIMEOUT"
  /** libvirt refused, or the connection to it is gone. */
  | "DOMAIN_LIBVIRT"
  /** A newer client has taken the guest's console or screen. */
  | "DOMAIN_STREAM_TAKEN"
  /** Another client has the guest's console or screen, and was not to be disturbed. */
  | "DOMAIN_STREAM_BUSY"
  /** Nobody answers at the guest's console or screen. */
  | "DOMAIN_STREAM_LOST";

/** Where it went wrong. */
export interface DomainManagerErrorOptions {
  /** Field, device or step. */
  readonly path?: string | undefined;
  readonly cause?: unknown;
}

/** The only error that the domain manager throws on purpose. */
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

/** Whether something thrown is a {@link DomainManagerError}, of whatever copy of this package. */
export function isDomainManagerError(error: unknown): error is DomainManagerError {
  return error instanceof Error && error.name === "DomainManagerError" && "code" in error;
}
