import { ProcessHandle } from "@virtkit/host-primitives/process";
import { openRoot, type SafeRoot } from "@virtkit/host-primitives/safe-path";

/**
 * The node's root, as an agent sees it that shares the node's pid namespace: that of the node's first process. An
 * agent's own root is its container's.
 */
export const hostRoot: string = "/proc/1/root";

const ofProcess = /^\/proc\/(\d+)\/root$/;

/** Opens a directory as a root, also one like {@link hostRoot}, which is a magic link and otherwise refused. */
export function openHostRoot(root: string): SafeRoot {
  const pid = ofProcess.exec(root)?.[1];
  if (pid === undefined) return openRoot(root);
  using owner = ProcessHandle.open(Number(pid));
  return owner.openRoot();
}
