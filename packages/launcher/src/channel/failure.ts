/** A failed action as reported over the channel. */
export interface Failure {
  readonly success: false;
  readonly message: string;
  readonly code: string;
  readonly path?: string;
}

/** The codes of this project's packages and of the kernel. Node's own, `ERR_...`, quote what they were given. */
const codes = /^(?!ERR_)[A-Z][A-Z0-9_]{1,63}$/;

/**
 * What a caller learns about an error. Only errors with a code are meant for callers and show their text; any
 * other is a defect in our code, and its text may contain what the caller must not see.
 */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return internal(typeof error);
  const { code, path } = error as { code?: unknown; path?: unknown };
  if (typeof code !== "string" || !codes.test(code)) return internal(error.name);
  return {
    success: false,
    code,
    message: error.message.slice(0, 16_384),
    ...(typeof path === "string" ? { path: path.slice(0, 1_024) } : {}),
  };
}

function internal(kind: string): Failure {
  const message = `the launcher failed with a ${kind}, which is a defect; its log says where`;
  return { success: false, code: "LAUNCHER_FAILED", message };
}
