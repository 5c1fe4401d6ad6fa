import { ProcessHandle } from "@virtkit/host-primitives/process";
import { openRoot, type SafeRoot } from "@virtkit/host-primitives/safe-path";

/**
 * The node's root directory, as seen by an agent that shares the node's pid namespace: the root of the node's first
 * process. The agent's own root is that of its container.
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
