/**
 * Aborts when the process is asked to end. Call it before anything that waits: signals have no default action
 * for the first process of a container.
 */
export function untilSignal(): AbortSignal {
  const ending = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"]) process.on(name, () => ending.abort());
  return ending.signal;
}
