/** What went wrong, for programs. */
export type MigrationErrorCode =
  /** A field that should hold an amount does not. */
  | "MIGRATION_QUANTITY_INVALID"
  /** An object does not have the shape of its kind. */
  | "MIGRATION_INPUT_INVALID"
  /** The other host cannot be reached, is not who it should be, or refuses. */
  | "MIGRATION_PEER_REFUSED"
  /** The VMI cannot be migrated now. */
  | "MIGRATION_NOT_NOW"
  /** The XML of a domain cannot be read, or cannot become that of the target. */
  | "MIGRATION_XML_INVALID"
  /** A disk that both hosts reach may have unwritten data in one host's memory. */
  | "MIGRATION_DISK_INCOHERENT"
  /** A source sent the domain of another VMI. */
  | "MIGRATION_FOREIGN_DOMAIN"
  /** The guest would see different hardware at the target. */
  | "MIGRATION_ABI_CHANGED"
  /** A rule that keeps a guest from running twice does not permit it. `path` is the name of the rule. */
  | "MIGRATION_REFUSED"
  /** A file with the decision of a migration cannot be read. */
  | "MIGRATION_DECISION_INVALID"
  /** A phase failed. `path` names the side, such as `source/perform`. */
  | "MIGRATION_PHASE_FAILED"
  /** The other side did not answer, or gave an invalid answer. */
  | "MIGRATION_PEER";

/** Details of a {@link MigrationError}. */
export interface MigrationErrorOptions extends ErrorOptions {
  /** The field in the given object, such as `spec.domain.memory.guest`. */
  readonly path?: string;
}

/** The one error class of this package. The message names the field, what was found, and what to do. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
  readonly code: MigrationErrorCode;
  readonly path: string | undefined;

  constructor(
    code: MigrationErrorCode,
    message: string,
    { path, ...options }: MigrationErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.path = path;
  }
}

/** Whether a caught value is a {@link MigrationError}; by name, so that two copies of this package agree. */
export function isMigrationError(value: unknown): value is MigrationError {
  return value instanceof Error && value.name === "MigrationError";
}
