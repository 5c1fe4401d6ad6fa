/** An error for a log: its message, without the values in question. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? `${code}: ${error.message}` : `${error.name}: ${error.message}`;
}
