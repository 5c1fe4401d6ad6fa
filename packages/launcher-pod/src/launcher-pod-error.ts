/** The kind of a {@link LauncherPodError}, for programs. */
export type LauncherPodErrorCode =
  /** The VMI lacks something that every VMI has, or a part of it has the wrong shape. */
  | "LAUNCHER_POD_VMI_INVALID"
  /** A field of the VMI has a value from which no Pod can be made. */
  | "LAUNCHER_POD_FIELD_INVALID"
  /** An object that the VMI refers to is not in the cluster (yet). */
  | "LAUNCHER_POD_NOT_FOUND"
  /** The cluster's configuration does not permit a device. */
  | "LAUNCHER_POD_NOT_PERMITTED"
  /** The source Pod or node of a migration lacks something that the target needs. */
  | "LAUNCHER_POD_SOURCE_INVALID";

/** Details of a {@link LauncherPodError}. */
export interface LauncherPodErrorOptions extends ErrorOptions {
  /** The path in the VMI, such as `spec.volumes[0].persistentVolumeClaim.claimName`. */
  readonly path?: string;
}

/** The error class of this package. The message names the field, what was found, and what to do. */
export class LauncherPodError extends Error {
  override readonly name = "LauncherPodError";
  readonly code: LauncherPodErrorCode;
  readonly path: string | undefined;

  constructor(
    code: LauncherPodErrorCode,
    message: string,
    { path, ...options }: LauncherPodErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.path = path;
  }
}

/**
 * Whether a caught value is a {@link LauncherPodError}. Checked by name, so it also works across two copies of this
 * package.
 */
export function isLauncherPodError(value: unknown): value is LauncherPodError {
  return value instanceof Error && value.name === "LauncherPodError";
}
