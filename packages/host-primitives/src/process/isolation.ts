import { type CgroupMembership, parseProcCgroup } from "../cgroups/parse-proc-cgroup.ts";
import { HostError } from "../host-error.ts";
import { type MountInfo, parseMountInfo } from "../mounts/parse-mountinfo.ts";
import type { NamespaceKind } from "../namespaces/namespace.ts";
import type { SafePath } from "../safe-path/safe-path.ts";
import { type ConnectOptions, connectUnix } from "../sockets/connect-unix.ts";
import { peerOf } from "../sockets/peer.ts";
import { podOfCgroups } from "./pod-of-cgroups.ts";
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

/**
 * Reads everything about an opened process, and checks at the end that it was still the same one.
 */
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

/** Options of {@link detectIsolation}. */
export interface DetectOptions extends ConnectOptions {
  /** UID of the Pod that the process must be in, according to its cgroups. */
  readonly podUid?: string;
}

/** The process behind a socket, opened. */
export interface SocketOwner extends Disposable {
  readonly process: ProcessHandle;
  readonly isolation: Isolation;
}

/**
 * Finds out who listens on an opened unix socket: connects to it, asks the kernel, and inspects the process.
 * A process that can write to the directory of a socket can put its own socket there. Pass `podUid` to refuse
 * a process of any other Pod, or of none, with `HOST_PROCESS_FOREIGN`.
 */
export async function detectIsolation(
  socket: SafePath,
  { podUid, ...options }: DetectOptions = {},
): Promise<SocketOwner> {
  using connection = await connectUnix(socket, options);
  const { process } = peerOf(connection);
  try {
    const isolation = inspectProcess(process);
    if (podUid !== undefined) refuseOtherPods(isolation, podUid, socket.description);
    return { process, isolation, [Symbol.dispose]: () => process.close() };
  } catch (error) {
    process.close();
    throw error;
  }
}

function refuseOtherPods({ pid, cgroups }: Isolation, podUid: string, path: string): void {
  const found = podOfCgroups(cgroups)?.podUid;
  if (found === podUid) return;
  const place = found === undefined ? "in no Pod" : `in Pod ${found}`;
  const message = `process ${pid}, which listens on ${path}, is ${place}, not in Pod ${podUid}; refused`;
  throw new HostError("HOST_PROCESS_FOREIGN", message, { path });
}
