import { hasErrno } from "@virtkit/host-primitives";
import {
  type FileStatus,
  type FileType,
  openRoot,
  type SafePath,
  type SafeRoot,
} from "@virtkit/host-primitives/safe-path";
import { NodeAgentError } from "../node-agent-error.ts";

/** The new owner. */
export interface Ownership {
  readonly path: string;
  readonly types: readonly FileType[];
  readonly uid: number;
  readonly gid: number;
}

/**
 * Makes a user the owner of what a path in the sandbox names, if it has one of the types. A device node of
 * the node itself, mounted into the sandbox, is not handed over, because that would affect everybody on the
 * node. If everybody may use it, nothing is needed.
 */
export function ownEntry(root: SafeRoot, { path, types, uid, gid }: Ownership): void {
  using entry = root.resolve(path, types);
  const status = entry.stat();
  if (status.uid === uid && status.gid === gid) return;
  if (isDevice(entry) && isOfNode(path, status)) {
    if ((status.mode & 0o006) === 0o006) return;
    const message = `${path} in the sandbox belongs to the node; create a device node in the sandbox, or let everybody use it (mode 0666)`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path });
  }
  entry.chown(uid, gid);
}

function isDevice({ type }: SafePath): boolean {
  return type === "char" || type === "block";
}

/** Whether the node itself has the same inode at this path. */
function isOfNode(path: string, { inode, fileSystem }: FileStatus): boolean {
  using node = openRoot("/");
  try {
    using own = node.resolve(path);
    const status = own.stat();
    return status.inode === inode && status.fileSystem === fileSystem;
  } catch (error) {
    if (hasErrno(error, "ENOENT", "ELOOP", "ENOTDIR")) return false;
    throw error;
  }
}
