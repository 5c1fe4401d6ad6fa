import type { OwnedFd } from "@virtkit/host-primitives";
import { type Namespace, runIn } from "@virtkit/host-primitives/namespaces";
import { RtNetlink } from "../netlink/rt-netlink.ts";
import { NetworkSetupError } from "../network-setup-error.ts";

/** The opened network namespace of a Pod: a connection to its kernel side. */
export interface PodNetwork extends Disposable {
  readonly namespace: Namespace;
  readonly kernel: RtNetlink;
}

/**
 * Opens a Pod's network. The socket is created inside the namespace and keeps it alive: a Pod that
 * ends in between leaves an empty namespace, not someone else's. The caller keeps the ownership of
 * the namespace.
 */
export async function openPodNetwork(namespace: Namespace): Promise<PodNetwork> {
  const { descriptors } = await runIn([namespace], "openSocket", { kind: "netlink", protocol: 0 });
  const [socket] = descriptors as readonly [OwnedFd?];
  if (!socket) {
    const message = `${namespace.description}: no socket could be opened in it`;
    throw new NetworkSetupError("NETWORK_KERNEL_REFUSED", message);
  }
  const kernel = new RtNetlink(socket);
  return { namespace, kernel, [Symbol.dispose]: () => kernel[Symbol.dispose]() };
}
