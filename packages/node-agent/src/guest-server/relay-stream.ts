import type { Duplex } from "node:stream";
import { streamCloseCodes } from "@virtkit/api/subresources/node";
import type { RawData, WebSocket } from "ws";

/** Bytes that may wait for a slow client before reading from the guest stops. */
const mostWaiting = 256 * 1024;
/** A closing frame may carry at most 123 bytes of text. */
const longestReason = 120;

/**
 * Joins a client's WebSocket and a guest's stream until either ends, and then ends the other. Neither side can fill
 * memory: while the client is slow, nothing is read from the guest, and the other way round. Messages that are not
 * binary are ignored, as in KubeVirt.
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
    client.once("close", () => end(streamCloseCodes.ended, "the client disconnected"));
    client.once("error", (error: Error) => end(streamCloseCodes.protocol, error.message));
    guest.once("error", (error: Error) => end(closeCodeOf(error), error.message));
    guest.once("close", () => end(streamCloseCodes.ended, "the guest closed its end"));
    guest.once("end", () => end(streamCloseCodes.ended, "the guest closed its end"));
    if (guest.errored) end(closeCodeOf(guest.errored), guest.errored.message);
    else if (guest.destroyed) end(streamCloseCodes.ended, "the guest closed its end");
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
