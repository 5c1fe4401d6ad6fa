/** What went wrong, for programs. */
export type LauncherErrorCode =
  /** An option of the command line is missing, unknown or invalid. */
  | "LAUNCHER_OPTION"
  /** Nobody listens where the launcher should be. */
  | "LAUNCHER_CONNECT"
  /** The connection has ended; whether the call was carried out is unknown. */
  | "LAUNCHER_CLOSED"
  /** The two sides have no version of the channel in common. */
  | "LAUNCHER_VERSION"
  /** The other side violates the channel's protocol. */
  | "LAUNCHER_PROTOCOL"
  /** The other side has no such verb: it is older. */
  | "LAUNCHER_VERB"
  /** An argument of a call is invalid. */
  | "LAUNCHER_ARGUMENT"
  /** Too much at once. */
  | "LAUNCHER_BUSY"
  /** The caller gave up. */
  | "LAUNCHER_ABORTED"
  /** The launcher failed for a reason without another code. */
  | "LAUNCHER_FAILED"
  /** libvirtd does not start or does not answer. */
  | "LAUNCHER_LIBVIRTD";

/** Details of a {@link LauncherError}. */
export interface LauncherErrorOptions extends ErrorOptions {
  /** The field, verb, option or file that it is about. */
  readonly path?: string | undefined;
}

/** The one error class of this package. */
export class LauncherError extends Error {
  override readonly name = "LauncherError";
  readonly code: LauncherErrorCode;
  readonly path: string | undefined;

  constructor(
    code: LauncherErrorCode,
    message: string,
    { path, ...options }: LauncherErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.path = path;
  }
}

/** Whether a caught value is a {@link LauncherError}; by name, so that two copies of this package agree. */
export function isLauncherError(value: unknown): value is LauncherError {
  return value instanceof Error && value.name === "LauncherError";
}
