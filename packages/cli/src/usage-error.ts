/** The command line itself is wrong: the message says how to call it; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * Whether a caught value is a {@link UsageError}. Checked by name, so it also works across two copies of this
 * package.
 */
export function isUsageError(value: unknown): value is UsageError {
  return value instanceof Error && value.name === "UsageError";
}
