import type { Readable, Writable } from "node:stream";

/** What a command may touch of the process it runs in; tests pass their own. */
export interface Io {
  readonly stdin: Readable;
  /** Data goes here, and nothing else. */
  readonly stdout: Writable;
  /** Messages for people go here. */
  readonly stderr: Writable;
  /** Whether a person sees stdout: decides colour and layout, never content. */
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

/** Writes a chunk and waits until the stream takes more, so that a slow reader slows the writer. */
export async function writeAll(stream: Writable, chunk: string): Promise<void> {
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
    const onClose = (): void => settle(new Error("the output was closed before all was written"));
    stream.on("drain", onDrain);
    stream.on("close", onClose);
    stream.on("error", settle);
  });
}
