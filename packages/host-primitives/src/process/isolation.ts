import { type CgroupMembership, parseProcCgroup } from "../cgroups/parse-proc-cgroup.ts";
import { type MountInfo, parseMountInfo } from "../mounts/parse-mountinfo.ts";
import type { NamespaceKind } from "../namespaces/namespace.ts";
import type { SafePath } from "../safe-path/safe-path.ts";
import { type ConnectOptions, connectUnix } from "../sockets/connect-unix.ts";
import { peerOf } from "../sockets/peer.ts";
import type { ProcessHandle } from "./process-handle.ts";

/** Where and how a process lives. */
export interface Isolation {
  readonly pid: number;
  readonly parentPid: number;
  /** The process's pid in its own, innermost pid namespace. */
  readonly namespacePid: number;
  readonly uid: number;
  readonly gid: number;
  readonly namespaces: Readonly<Partial<Record<NamespaceKind, string>>>;
  readonly cgroups: readonly CgroupMembership[];
  readonly mounts: readonly MountInfo[];
}

/** Reads everything about an opened process, and makes sure at the end that it was one and the same. */
export function inspectProcess(process: ProcessHandle): Isolation {
  const status = process.status();
  const isolation: Isolation = {
    pid: process.pid,
    parentPid: status.parentPid,
    namespacePid: status.namespacePids.at(-1) ?? process.pid,
    uid: status.uids[0] ?? 0,
    gid: status.gids[0] ?? 0,
    namespaces: process.namespaceIdentities(),
    cgroups: parseProcCgroup(process.read("cgroup")),
    mounts: parseMountInfo(process.read("mountinfo")),
  };
  process.assertAlive();
  return isolation;
}

/** The process behind a socket, opened. */
export interface SocketOwner extends Disposable {
  readonly process: ProcessHandle;
  readonly isolation: Isolation;
}

/**
 * Who listens on an opened unix socket: connects to it, asks the kernel, and inspects the process.
 * The caller compares its cgroup with the Pod's: whoever can write to the directory of a socket can
 * put one of his own there.
 */
export async function detectIsolation(
  socket: SafePath,
  options: ConnectOptions = {},
): Promise<SocketOwner> {
  using connection = await connectUnix(socket, options);
  const { process } = peerOf(connection);
  try {
    const isolation = inspectProcess(process);
    return { process, isolation, [Symbol.dispose]: () => process.close() };
  } catch (error) {
    process.close();
    throw error;
  }
}
