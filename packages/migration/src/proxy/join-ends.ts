import type { Socket } from "node:net";
import type { StreamEnd } from "./stream-end.ts";

/** Two ends that are joined. */
export interface Joint {
  /** Bytes passed on, in both directions. */
  readonly moved: number;
  /** Whether one end has not yet accepted what the other has sent. */
  readonly waits: boolean;
  /** Resolves when both ends are closed. */
  readonly closed: Promise<void>;
  destroy(): void;
}

/**
 * Passes bytes on in both directions without looking at them. Each direction ends on its own, when its sender ends.
 * An end that breaks also breaks the other: an orderly end would tell that peer that it has received everything.
 */
export function joinEnds(one: StreamEnd, other: StreamEnd): Joint {
  let moved = 0;
  const count = (bytes: number): void => {
    moved += bytes;
  };
  const closed = Promise.all([
    closeTogether(one.socket, other.socket),
    closeTogether(other.socket, one.socket),
  ]);
  one.socket.once("end", () => other.socket.end());
  other.socket.once("end", () => one.socket.end());
  one.flowInto(other.socket, count);
  other.flowInto(one.socket, count);
  return {
    get moved() {
      return moved;
    },
    get waits() {
      return one.socket.writableLength + other.socket.writableLength > 0;
    },
    closed: closed.then(() => undefined),
    destroy: () => {
      reset(one.socket);
      reset(other.socket);
    },
  };
}

async function closeTogether(one: Socket, other: Socket): Promise<void> {
  if (one.closed) return void reset(other);
  // Told to the other end, below.
  one.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    one.once("close", (hadError) => {
      if (hadError || !one.readableEnded) reset(other);
      resolve();
    });
  });
}

/** Only TCP can tell a peer that something broke. */
function reset(socket: Socket): void {
  const isTcp = socket.remoteFamily !== undefined && !("encrypted" in socket);
  if (isTcp && !socket.connecting && !socket.destroyed) socket.resetAndDestroy();
  else socket.destroy();
}
