import { open } from "node:fs/promises";

/** Bytes of the end of a log that are read: the panic is the last that happened. */
const tailBytes = 64 << 10;

/**
 * What QEMU's log says about the last panic: its kind, and for Windows the numbers of the stop
 * screen. Undefined if it says nothing.
 */
export function panicDetail(log: string): string | undefined {
  const last = [...log.matchAll(/panic ([\w-]+): *(.*)/g)].at(-1);
  if (!last) return undefined;
  const [, kind, rest = ""] = last;
  const numbers = [...rest.matchAll(/arg[1-5]=['"]?(0x[0-9a-fA-F]{1,16})/g)].map(([, hex]) => hex);
  return numbers.length === 0 ? kind : `${kind} ${numbers.join(" ")}`;
}

/** {@link panicDetail} of the end of a file; undefined if it cannot be read. */
export async function readPanicDetail(path: string): Promise<string | undefined> {
  // The panic itself is reported in any case; this file only has the details.
  const file = await open(path, "r").catch(() => undefined);
  try {
    if (!file) return undefined;
    const { size } = await file.stat();
    const length = Math.min(size, tailBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return panicDetail(buffer.subarray(0, bytesRead).toString("latin1"));
  } catch {
    // As above.
    return undefined;
  } finally {
    await file?.close();
  }
}
