import type { Duplex } from "node:stream";
import { streamCloseCodes } from "@virtkit/api/subresources/node";
import type { RawData, WebSocket } from "ws";

/** Bytes that wait for a slow client before nothing more is read from the guest. */
const mostWaiting = 256 * 1024;
/** The longest text that a closing frame may have is 123 bytes. */
const longestReason = 120;

/**
 * Joins a client's WebSocket and a guest's stream until either ends, and then ends the other one. Neither side can
 * fill memory: while the client is slow nothing is read from the guest, and while the guest is slow nothing is read
 * from the client. Messages that are not binary are passed over, as KubeVirt does.
 */
export function relayStream(client: WebSocket, guest: Duplex): Promise<void> {
  return new Promise((resolve) => {
    let over = false;
    const end = (code: number, reason: string): void => {
      if (over) return;
      over = true;
      guest.destroy();
      client.close(code, reason.slice(0, longestReason));
      resolve();
    };
    client.on("message", (data: RawData, isBinary: boolean) => {
      if (!isBinary || over) return;
      if (guest.write(bytesOf(data))) return;
      client.pause();
      guest.once("drain", () => client.resume());
    });
    guest.on("data", (chunk: Buffer) => {
      client.send(chunk, { binary: true }, (error) => {
        if (!error && client.bufferedAmount <= mostWaiting) guest.resume();
      });
      if (client.bufferedAmount > mostWaiting) guest.pause();
    });
    client.once("close", () => end(streamCloseCodes.ended, "the client has gone"));
    client.once("error", (error: Error) => end(streamCloseCodes.protocol, error.message));
    guest.once("error", (error: Error) => end(closeCodeOf(error), error.message));
    guest.once("close", () => end(streamCloseCodes.ended, "the guest's end is closed"));
    guest.once("end", () => end(streamCloseCodes.ended, "the guest's end is closed"));
    if (guest.errored) end(closeCodeOf(guest.errored), guest.errored.message);
    else if (guest.destroyed) end(streamCloseCodes.ended, "the guest's end is closed");
  });
}

function closeCodeOf(error: Error): number {
  const taken = (error as NodeJS.ErrnoException).code === "DOMAIN_STREAM_TAKEN";
  return taken ? streamCloseCodes.goingAway : streamCloseCodes.failed;
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
