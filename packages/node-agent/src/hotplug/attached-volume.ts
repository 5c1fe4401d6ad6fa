import { hasErrno } from "@virtkit/host-primitives";
import type { Namespace } from "@virtkit/host-primitives/namespaces";
import type { ProcessHandle } from "@virtkit/host-primitives/process";
import type { DeviceNumber, SafePath, SafeRoot } from "@virtkit/host-primitives/safe-path";
import { NodeAgentError } from "../node-agent-error.ts";
import type { PlugKind } from "./hotplug-plan.ts";

/** The container of an attachment Pod, held open: its files are those that the kubelet has mounted there. */
export interface AttachmentRoot extends Disposable {
  readonly root: SafeRoot;
  /** Where mounts are cloned. */
  readonly mounts: Namespace;
}

/** Opens an attachment Pod's container by its process, which the caller keeps. */
export function openAttachment(process: ProcessHandle): AttachmentRoot {
  const root = process.openRoot();
  try {
    const mounts = process.openNamespace("mount");
    const close = (): void => {
      mounts.close();
      root.close();
    };
    return { root, mounts, [Symbol.dispose]: close };
  } catch (error) {
    root.close();
    throw error;
  }
}

/** A volume in its attachment Pod. */
export type AttachedVolume =
  | { readonly kind: "image" | "directory"; readonly file: SafePath }
  | { readonly kind: "device"; readonly device: DeviceNumber };

/** Where attachment Pods have their block devices: one in a directory named after the volume. */
const devices = "/path";

/** The image on a volume with a file system. */
const image = "disk.img";

/**
 * Finds a volume in its attachment Pod. What is on the volume is its owner's, who may have put anything there: the last
 * component is never a link, and an image is a regular file. The caller closes the file.
 *
 * @throws NodeAgentError `AGENT_VOLUME_MISSING` if it is not there.
 */
export function findAttachedVolume(
  { root }: Pick<AttachmentRoot, "root">,
  volume: string,
  kind: PlugKind,
): AttachedVolume {
  try {
    if (kind === "device") return { kind, device: findDevice(root, volume) };
    using mount = root.resolve(`/${volume}`, "directory");
    // Without its mount, this is an empty directory of the container itself.
    if (!mount.isMountRoot()) throw missing(volume, `/${volume} is not a mount`);
    if (kind === "directory") return { kind, file: root.resolve(`/${volume}`, "directory") };
    return { kind, file: mount.child(image, "file") };
  } catch (error) {
    if (!hasErrno(error, "ENOENT")) throw error;
    throw missing(volume, `${kind === "device" ? devices : ""}/${volume} is not there`, error);
  }
}

function findDevice(root: SafeRoot, volume: string): DeviceNumber {
  using directory = root.resolve(`${devices}/${volume}`, "directory");
  const [name, ...others] = directory.list({ maxEntries: 16 });
  if (name === undefined) throw missing(volume, `${devices}/${volume} is empty`);
  if (others.length > 0) {
    const message = `volume ${volume}: its attachment Pod has ${others.length + 1} entries in ${devices}/${volume}, where one device is expected`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path: volume });
  }
  using node = directory.child(name, "block");
  return node.stat().device;
}

function missing(volume: string, why: string, cause?: unknown): NodeAgentError {
  const message = `volume ${volume} is not in its attachment Pod: ${why}; put ${image} on it, or wait until the kubelet has mounted it`;
  return new NodeAgentError("AGENT_VOLUME_MISSING", message, { path: volume, cause });
}
