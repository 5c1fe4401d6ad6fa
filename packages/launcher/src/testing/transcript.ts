import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** What went over a connection: the sender, the bytes of a frame in base64, and their meaning, for people. */
export interface TranscriptEntry {
  readonly from: "client" | "launcher";
  readonly frame: string;
  readonly message: unknown;
}

/** A connection that records everything that passes. */
export function tapped(
  socket: Socket,
  onBytes: (from: TranscriptEntry["from"], bytes: Buffer) => void,
): Duplex {
  const tap = new Duplex({
    read: () => socket.resume(),
    write: (chunk: Buffer, _, done) => {
      onBytes("client", chunk);
      socket.write(chunk, () => done());
    },
    final: (done) => socket.end(done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (chunk) => {
    onBytes("launcher", chunk);
    tap.push(chunk);
  });
  socket.on("close", () => tap.destroy());
  return tap;
}
