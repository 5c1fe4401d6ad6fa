import type { Readable, Writable } from "node:stream";

/** The parts of the process that a command may use; tests pass their own. */
export interface Io {
  readonly stdin: Readable;
  /** Data goes here, and nothing else. */
  readonly stdout: Writable;
  /** Messages for people go here. */
  readonly stderr: Writable;
  /** Whether a person sees stdout: affects colour and layout, never content. */
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The {@link Io} of this process. */
export function processIo(): Io {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    isTerminal: process.stdout.isTTY === true,
    env: process.env,
  };
}

/**
 * The first error of each stream that was written to. Node's own stdout forgets that it failed, and an
 * unhandled error event ends the process.
 */
const failures = new WeakMap<Writable, { error?: Error }>();

function failureOf(stream: Writable): { error?: Error } {
  const known = failures.get(stream);
  if (known) return known;
  const failure: { error?: Error } = {};
  failures.set(stream, failure);
  stream.on("error", (error) => {
    failure.error ??= error;
  });
  return failure;
}

/** Whether an error of {@link writeAll} or {@link flush} says that nobody reads the stream any more. */
export function isReaderGone(stream: Writable, error: unknown): boolean {
  const { code } = Object(error) as NodeJS.ErrnoException;
  return code === "EPIPE" && failures.get(stream)?.error === error;
}

/** Waits until everything was written; throws the error of any earlier write. */
export async function flush(stream: Writable): Promise<void> {
  const failure = failureOf(stream);
  // Writes end in order, so this one is the last; its own error only repeats theirs.
  await new Promise<void>((resolve) => stream.write("", () => resolve()));
  // The callback comes before the event.
  await new Promise<void>((resolve) => setImmediate(resolve));
  if (failure.error) throw failure.error;
}

/**
 * Writes a chunk and waits until the stream accepts more, so that a slow reader slows the writer. Throws once
 * any write has failed.
 */
export async function writeAll(stream: Writable, chunk: string): Promise<void> {
  const failure = failureOf(stream);
  if (failure.error) throw failure.error;
  if (stream.write(chunk)) return;
  await new Promise<void>((resolve, reject) => {
    const settle = (error?: Error): void => {
      stream.off("drain", onDrain);
      stream.off("close", onClose);
      stream.off("error", settle);
      if (error) reject(error);
      else resolve();
    };
    const onDrain = (): void => settle();
    const closed = "the output was closed before everything was written";
    const onClose = (): void => settle(failure.error ?? new Error(closed));
    stream.on("drain", onDrain);
    stream.on("close", onClose);
    stream.on("error", settle);
  });
}
