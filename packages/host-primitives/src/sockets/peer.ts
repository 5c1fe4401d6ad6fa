import { HostError, hasErrno } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import { ProcessHandle } from "../process/process-handle.ts";
import { getSocketOption } from "./socket-calls.ts";

const credentials = { level: 1, name: 17 } as const;
const peerPidfd = { level: 1, name: 77 } as const;

/** Who listens on, or connected to, a unix socket. */
export interface Peer extends Disposable {
  readonly process: ProcessHandle;
  readonly uid: number;
  readonly gid: number;
}

/**
 * User and group of the process at the other end of a connected unix socket, as the kernel recorded
 * them when it connected or began to listen. Unlike {@link peerOf}, this also works for a process
 * in another pid namespace, for which the pid is not available.
 */
export function peerUser(socket: OwnedFd): { readonly uid: number; readonly gid: number } {
  const bytes = getSocketOption(socket.fd, credentials, 12, socket.what);
  return { uid: bytes.readUInt32LE(4), gid: bytes.readUInt32LE(8) };
}

/**
 * The process at the other end of a connected unix socket, as the kernel recorded it when that
 * process began to listen. From Linux 6.5 on, the kernel returns a pidfd for it, so a reused pid
 * cannot be mistaken for it. Older kernels return only the pid; the answer may then be a later
 * process with the same pid, and the caller should compare its Pod (cgroup) with the expected one.
 * `HOST_PROCESS_GONE` if the process has ended.
 */
export function peerOf(socket: OwnedFd): Peer {
  const bytes = getSocketOption(socket.fd, credentials, 12, socket.what);
  const [pid, uid, gid] = [bytes.readInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8)];
  if (pid === 0) {
    const message = `the peer of ${socket.what} is in another pid namespace; run in the host's pid namespace`;
    throw new HostError("HOST_UNSUPPORTED", message, { path: socket.what });
  }
  const process = openPeer(socket, pid);
  return { process, uid, gid, [Symbol.dispose]: () => process.close() };
}

function openPeer(socket: OwnedFd, pid: number): ProcessHandle {
  let pidfd: number;
  try {
    pidfd = getSocketOption(socket.fd, peerPidfd, 4, socket.what).readInt32LE(0);
  } catch (error) {
    if (hasErrno(error, "ENOPROTOOPT")) return ProcessHandle.open(pid);
    // For a process that is gone the kernel refuses the pidfd with EINVAL, or ESRCH in newer
    // versions.
    if (!hasErrno(error, "EINVAL", "ESRCH", "ENODATA")) throw error;
    const message = `the process ${pid} that listened on ${socket.what} has ended`;
    throw new HostError("HOST_PROCESS_GONE", message, { path: socket.what, cause: error });
  }
  return new ProcessHandle(pid, new OwnedFd(pidfd, `pidfd of ${pid}`));
}
