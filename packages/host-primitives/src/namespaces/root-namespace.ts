import { HostError } from "../host-error.ts";
import type { OwnedFd } from "../owned-fd.ts";
import type { SafePath } from "../safe-path/safe-path.ts";
import { SafeRoot } from "../safe-path/safe-root.ts";
import { Namespace } from "./namespace.ts";
import { runIn } from "./run-in.ts";

/**
 * Creates a mount namespace with the given directory as its root, by `pivot_root`: the host's file
 * systems are not hidden in it but absent. The directory must be in this process's mount namespace.
 * Start a child in it with `startChild`; mount more into it with `runIn` and {@link
 * openNamespaceRoot}.
 */
export async function createRootNamespace(root: SafePath): Promise<Namespace> {
  const request = { root: { fd: root.fd, description: root.description } };
  const { descriptors } = await runIn([], "createRootNamespace", request);
  return new Namespace("mount", only(descriptors));
}

/** The root directory of a mount namespace; no process needs to be in it. */
export async function openNamespaceRoot(namespace: Namespace): Promise<SafeRoot> {
  const { descriptors } = await runIn([namespace], "openRoot", {});
  return new SafeRoot(only(descriptors));
}

function only(descriptors: readonly OwnedFd[]): OwnedFd {
  const [first] = descriptors;
  if (first) return first;
  throw new HostError("HOST_WORKER_LOST", "the helper thread answered without a descriptor");
}
