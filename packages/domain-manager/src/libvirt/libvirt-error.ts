import { errorCodeNames, errorDomainNames } from "./protocol/error-names.ts";

/** What went wrong, for programs. */
export type LibvirtErrorCode =
  /** The daemon answered with an error; see {@link LibvirtError.remote}. */
  | "LIBVIRT_REMOTE"
  /** The daemon sent something that the protocol does not allow. The connection is closed. */
  | "LIBVIRT_PROTOCOL"
  /** An argument cannot be encoded in the protocol; nothing was sent. */
  | "LIBVIRT_ARGUMENT"
  /** The connection could not be made. */
  | "LIBVIRT_CONNECT"
  /** The daemon requires an authentication that this client does not support. */
  | "LIBVIRT_AUTH"
  /**
   * The connection is closed, by us or by the daemon. Whether the call was carried out is unknown.
   */
  | "LIBVIRT_CLOSED"
  /** No answer in time. The daemon may still carry out the call. */
  | "LIBVIRT_TIMEOUT"
  /** The caller's signal was aborted. The daemon may still carry out the call. */
  | "LIBVIRT_ABORTED"
  /** Too many calls are already waiting. */
  | "LIBVIRT_BUSY";

/** An error reported by libvirtd. */
export interface RemoteError {
  /** libvirt's error number, such as 42. */
  readonly code: number;
  /** Its name, such as `noDomain`; `unknown` for a number that is newer than this client. */
  readonly codeName: string;
  /** Number of the part of libvirt that failed, such as 10. */
  readonly domain: number;
  /** Its name, such as `qemu`. */
  readonly domainName: string;
  /** 1 warning, 2 error. */
  readonly level: number;
  readonly message: string;
}

/** Details of a {@link LibvirtError}. */
export interface LibvirtErrorOptions extends ErrorOptions {
  readonly procedure?: string | undefined;
  readonly path?: string | undefined;
  readonly remote?: RemoteError | undefined;
}

/** The one error class of this client. */
export class LibvirtError extends Error {
  override readonly name = "LibvirtError";
  readonly code: LibvirtErrorCode;
  /** The procedure that was called, such as `domainGetInfo`. */
  readonly procedure: string | undefined;
  /** The argument or field, such as `dom.uuid`. */
  readonly path: string | undefined;
  /** What the daemon said; only with the code `LIBVIRT_REMOTE`. */
  readonly remote: RemoteError | undefined;

  constructor(
    code: LibvirtErrorCode,
    message: string,
    { procedure, path, remote, ...options }: LibvirtErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.procedure = procedure;
    this.path = path;
    this.remote = remote;
  }

  /** The same error as the result of one call, which it names. */
  during(procedure: string): LibvirtError {
    if (this.procedure !== undefined) return this;
    const { code, path, remote } = this;
    const options = { procedure, path, remote, cause: this.cause ?? this };
    return new LibvirtError(code, `${procedure}: ${this.message}`, options);
  }

  /** The error for the daemon's answer to a call. */
  static fromRemote(
    procedure: string | undefined,
    {
      code,
      domain,
      level,
      message,
    }: { code: number; domain: number; level: number; message: string },
  ): LibvirtError {
    const codeName = errorCodeNames[code] ?? "unknown";
    const domainName = errorDomainNames[domain] ?? "unknown";
    const remote = { code, codeName, domain, domainName, level, message };
    const text = `${procedure ?? "libvirt"} failed: ${message} (${codeName}, ${domainName})`;
    return new LibvirtError("LIBVIRT_REMOTE", text, { procedure, remote });
  }
}

/**
 * Whether a caught value is a {@link LibvirtError}; by name, so that two copies of this package agree.
 * With the name of a libvirt error number: whether it is the daemon's error of that number.
 */
export function isLibvirtError(value: unknown, codeName?: string): value is LibvirtError {
  if (!(value instanceof Error) || value.name !== "LibvirtError") return false;
  return codeName === undefined || (value as LibvirtError).remote?.codeName === codeName;
}
