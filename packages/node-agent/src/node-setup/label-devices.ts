import { isHostError } from "@virtkit/host-primitives";
import { openRoot } from "@virtkit/host-primitives/safe-path";
import {
  type SelinuxState,
  selinuxState,
  setLabel,
  unprivilegedFileContext,
} from "@virtkit/host-primitives/selinux";

/** Device nodes that launchers get of the node itself. */
const shared = ["/dev/net/tun", "/dev/null"];

/**
 * Labels the device nodes that launchers share, so that SELinux lets containers use them, as KubeVirt does. Nothing
 * is done where SELinux is off. Returns the paths that were labelled; nodes that are not there are passed over.
 */
export function labelDevices(
  root = "/",
  state: SelinuxState = selinuxState({ directory: `${root}/sys/fs/selinux` }),
): readonly string[] {
  if (state === "disabled") return [];
  using node = openRoot(root);
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
