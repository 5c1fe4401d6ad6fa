import { Readable, Writable } from "node:stream";
import type { Io } from "../io.ts";

/** Streams of a command without input, and what it has written to either output. */
export function textIo(): Io & { readonly text: () => string } {
  let text = "";
  const stream = () =>
    new Writable({
      write(chunk, _, done) {
        text += String(chunk);
        done();
      },
    });
  const streams = { stdin: Readable.from([]), stdout: stream(), stderr: stream() };
  return { ...streams, isTerminal: false, env: {}, text: () => text };
}
