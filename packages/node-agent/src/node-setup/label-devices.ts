import { isHostError } from "@virtkit/host-primitives";
import {
  type SelinuxState,
  selinuxState,
  setLabel,
  unprivilegedFileContext,
} from "@virtkit/host-primitives/selinux";
import { hostRoot, openHostRoot } from "../host-root.ts";

/** Device nodes of the node itself that launchers get. */
const shared = ["/dev/net/tun", "/dev/null"];

/**
 * Labels the device nodes that launchers share, so that SELinux lets containers use them, as KubeVirt does. Does
 * nothing if SELinux is off. Returns the labelled paths; missing device nodes are skipped.
 */
export function labelDevices(
  root: string = hostRoot,
  state: SelinuxState = selinuxState({ directory: `${root}/sys/fs/selinux` }),
): readonly string[] {
  if (state === "disabled") return [];
  using node = openHostRoot(root);
  return shared.filter((path) => {
    try {
      using device = node.resolve(path, "char");
      return setLabel(device, unprivilegedFileContext, state) === "set";
    } catch (error) {
      if (isHostError(error) && error.errno === "ENOENT") return false;
      throw error;
    }
  });
}
