import type { Duplex, Readable, Writable } from "node:stream";

/** The parts of a terminal's input that a console needs. */
export type ConsoleInput = Readable & {
  readonly isTTY?: boolean;
  setRawMode?(on: boolean): unknown;
  ref?(): unknown;
  unref?(): unknown;
};

/** Options of a console session. */
export interface AttachOptions {
  readonly input: ConsoleInput;
  readonly output: Writable;
  /** Whether Ctrl-C ends the session instead of going to the guest. */
  readonly interrupts?: boolean;
  readonly signal?: AbortSignal;
}

/** Why a console session ended. */
export type ConsoleEnd = "left" | "interrupted" | "closed" | "aborted";

const ctrlC = 0x03;
const ctrlBracket = 0x1d;

/**
 * Connects a terminal to a guest's serial console, until the user leaves with Ctrl-], the guest closes it, or
 * the signal is aborted. The terminal is raw meanwhile, so that every other key reaches the guest, and is
 * restored afterwards. A slow terminal slows the guest's console, not this process.
 */
export async function attachConsole(
  console: Duplex,
  { input, output, interrupts = false, signal }: AttachOptions,
): Promise<ConsoleEnd> {
  return await new Promise((resolve) => {
    const finish = (end: ConsoleEnd): void => {
      input.off("data", onInput);
      input.pause();
      // An open input must not keep the process alive.
      input.unref?.();
      if (input.isTTY) input.setRawMode?.(false);
      signal?.removeEventListener("abort", onAbort);
      console.destroy();
      resolve(end);
    };
    const onAbort = (): void => finish("aborted");
    const onInput = (chunk: Buffer | string): void => {
      const bytes = Buffer.from(chunk);
      const stop = bytes.findIndex(
        (byte) => byte === ctrlBracket || (interrupts && byte === ctrlC),
      );
      console.write(stop < 0 ? bytes : bytes.subarray(0, stop));
      if (stop >= 0) finish(bytes[stop] === ctrlC ? "interrupted" : "left");
    };
    console.on("data", (chunk: Buffer) => {
      if (output.write(chunk)) return;
      console.pause();
      output.once("drain", () => console.resume());
    });
    console.on("error", () => finish("closed"));
    console.on("close", () => finish("closed"));
    console.on("end", () => finish("closed"));
    if (input.isTTY) input.setRawMode?.(true);
    input.ref?.();
    input.on("data", onInput);
    signal?.addEventListener("abort", onAbort);
    if (signal?.aborted) onAbort();
  });
}
