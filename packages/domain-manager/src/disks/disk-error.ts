/** What went wrong with a disk, for programs. */
export type DiskErrorCode =
  /** The VMI asks for a disk that cannot be created, or lacks what every VMI has. */
  | "DISK_VMI_INVALID"
  /** A field or file that should be base64 is not; see {@link DiskError.offset}. */
  | "DISK_BASE64_INVALID"
  /** A cloud-init volume has neither user data nor network data. */
  | "DISK_CLOUD_INIT_EMPTY"
  /** The live domain is not XML, or a device in it has no address. */
  | "DISK_DOMAIN_INVALID"
  /** A Secret, ConfigMap, image or kernel is not where it should be mounted. */
  | "DISK_SOURCE_MISSING"
  /**
   * A source is not a regular file, leaves its directory, or is in a format that is not accepted.
   */
  | "DISK_SOURCE_REFUSED"
  /** A source or a disk is larger than the limit. */
  | "DISK_TOO_LARGE"
  /** No space is left on the device, or the quota is used up. Nothing incomplete is left behind. */
  | "DISK_FULL"
  /** Something other than a regular file is where a disk is to be created. It is left alone. */
  | "DISK_TARGET_REFUSED"
  /** The file system failed in another way; the cause says how. */
  | "DISK_IO"
  /** The guest's agent refused or failed. */
  | "DISK_AGENT"
  /** The caller's signal. */
  | "DISK_ABORTED";

/** Details of a {@link DiskError}. */
export interface DiskErrorOptions extends ErrorOptions {
  /** The field of the VMI, or the file. */
  readonly path?: string | undefined;
  /** The first byte that is not base64. */
  readonly offset?: number | undefined;
}

/**
 * The one error class of `/disks`. The message names the field or file, what was found, and what to
 * do. It never contains the content of a file, which may be user data, keys or passwords.
 */
export class DiskError extends Error {
  override readonly name = "DiskError";
  readonly code: DiskErrorCode;
  readonly path: string | undefined;
  readonly offset: number | undefined;

  constructor(
    code: DiskErrorCode,
    message: string,
    { path, offset, ...options }: DiskErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.path = path;
    this.offset = offset;
  }

  /** The error for a failed file system step. */
  static from(step: string, path: string, cause: unknown): DiskError {
    if (isDiskError(cause)) return cause;
    const { name, code: systemCode = "unknown error" } = Object(cause) as NodeJS.ErrnoException;
    const errno = name === "AbortError" ? name : String(systemCode);
    const code = codeOf(errno);
    const advice = advices[code] ?? "";
    return new DiskError(code, `${path}: cannot ${step}: ${errno}${advice}`, { path, cause });
  }
}

const advices: Partial<Record<DiskErrorCode, string>> = {
  DISK_FULL: "; no space is left there, free some or make the volume larger",
  DISK_SOURCE_MISSING: "; is the volume mounted?",
};

function codeOf(errno: string): DiskErrorCode {
  switch (errno) {
    case "ENOSPC":
    case "EDQUOT":
      return "DISK_FULL";
    case "ENOENT":
    case "ENOTDIR":
      return "DISK_SOURCE_MISSING";
    case "AbortError":
      return "DISK_ABORTED";
    default:
      return "DISK_IO";
  }
}

/** Whether a caught value is a {@link DiskError}; by name, so that two copies of this package agree. */
export function isDiskError(value: unknown, code?: DiskErrorCode): value is DiskError {
  if (!(value instanceof Error) || value.name !== "DiskError") return false;
  return code === undefined || (value as DiskError).code === code;
}
