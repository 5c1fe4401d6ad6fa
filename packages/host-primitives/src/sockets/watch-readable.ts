import { type PollHandle, pollDescriptor } from "../ffi/foreign.ts";
import { HostError } from "../host-error.ts";
import type { OwnedFd } from "../owned-fd.ts";
import { fileStatus } from "../safe-path/file-status.ts";

/** Descriptors that are waited for: a second wait would abort the process. The map also keeps them alive. */
const watched = new Map<number, PollHandle>();

/**
 * Calls back whenever a socket can be read, until it is disposed of; for sockets that `dgram` and `net`
 * do not take (ICMPv6, netlink). The watch ends with its disposal, which must come before the socket
 * is closed. An error of `onReadable` goes to `onError`; the watch goes on. Throws where the descriptor
 * is no socket or is watched already.
 */
export function watchReadable(
  socket: OwnedFd,
  onReadable: () => void,
  onError: (error: unknown) => void,
): Disposable {
  const { fd, what } = socket;
  if (fileStatus(fd, what).type !== "socket" || watched.has(fd)) {
    const message = `${what} cannot be watched: it is no socket, or is watched already`;
    throw new HostError("HOST_ARGUMENT_INVALID", message, { path: what });
  }
  const wake = (status: number): void => {
    // An error on the socket stops the watch: begin again, the reader will meet the error.
    if (status < 0) {
      handle.stop();
      handle.start({ readable: true }, wake);
    }
    try {
      onReadable();
    } catch (error) {
      onError(error);
    }
  };
  const handle = pollDescriptor(fd, wake);
  watched.set(fd, handle);
  return {
    [Symbol.dispose]() {
      if (watched.get(fd) !== handle) return;
      watched.delete(fd);
      handle.stop();
      handle.close();
    },
  };
}
