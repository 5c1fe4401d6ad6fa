/** What went wrong, for programs. */
export type HostErrorCode =
  | "HOST_ARGUMENT_INVALID"
  | "HOST_CLOSED"
  | "HOST_FORMAT_INVALID"
  | "HOST_JOURNAL_CORRUPT"
  | "HOST_LIMIT_EXCEEDED"
  | "HOST_PATH_UNSAFE"
  | "HOST_PROCESS_FOREIGN"
  | "HOST_PROCESS_GONE"
  | "HOST_SYSCALL_FAILED"
  | "HOST_TIMEOUT"
  | "HOST_UNSUPPORTED"
  | "HOST_WORKER_LOST";

/** Details of a {@link HostError}. */
export interface HostErrorOptions extends ErrorOptions {
  /** What was touched: a path, a descriptor's description, a field of the arguments. */
  readonly path?: string;
  /** Name of the kernel's error, such as `ENOENT`. */
  readonly errno?: string;
  /** Name of the system call, such as `openat2`. */
  readonly syscall?: string;
}

/** The one error class of this package. The message names what was touched, what was found, and what to do. */
export class HostError extends Error {
  override readonly name = "HostError";
  readonly code: HostErrorCode;
  readonly path: string | undefined;
  readonly errno: string | undefined;
  readonly syscall: string | undefined;

  constructor(
    code: HostErrorCode,
    message: string,
    { path, errno, syscall, ...options }: HostErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.path = path;
    this.errno = errno;
    this.syscall = syscall;
  }

  /** A failed system call as an error: its name, the kernel's error and what was touched. */
  static ofSyscall(syscall: string, errno: string, path: string): HostError {
    const options = { path, errno, syscall };
    return new HostError(
      "HOST_SYSCALL_FAILED",
      `${syscall} on ${path} failed with ${errno}`,
      options,
    );
  }

  /** Any caught value as a {@link HostError}; Node's own file errors keep their errno and syscall. */
  static from(value: unknown, path: string): HostError {
    if (isHostError(value)) return value;
    const { code, syscall, message } = Object(value) as NodeJS.ErrnoException;
    if (typeof code === "string" && typeof syscall === "string") {
      const options = { path, errno: code, syscall, cause: value };
      const text = `${syscall} on ${path} failed with ${code}`;
      return new HostError("HOST_SYSCALL_FAILED", text, options);
    }
    const text = `${path}: ${message ?? String(value)}`;
    return new HostError("HOST_SYSCALL_FAILED", text, { path, cause: value });
  }
}

/** Whether a caught value is a {@link HostError}; by name, so that two copies of this package agree. */
export function isHostError(value: unknown): value is HostError {
  return value instanceof Error && value.name === "HostError";
}

/** Whether a caught value is a failed system call with this kernel error, such as `ENOENT`. */
export function hasErrno(value: unknown, ...names: readonly string[]): boolean {
  return isHostError(value) && value.errno !== undefined && names.includes(value.errno);
}
