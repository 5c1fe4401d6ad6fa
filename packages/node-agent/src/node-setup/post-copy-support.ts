import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the kernel says of userfaultfd, by which QEMU fetches memory after a post-copy switch. */
export interface UserfaultfdFacts {
  /** `vm.unprivileged_userfaultfd`; undefined where the kernel has no such setting. */
  readonly unprivileged?: string | undefined;
  /** The node of the device, where the kernel has one. */
  readonly device?:
    | { readonly mode: number; readonly uid: number; readonly gid: number }
    | undefined;
}

/** Whether guests can be moved with post-copy to and from a node. */
export interface PostCopySupport {
  readonly supported: boolean;
  /** Why, and what to do where it is not. */
  readonly reason: string;
}

const sysctl = "/proc/sys/vm/unprivileged_userfaultfd";

/** Whether QEMU, as a user without rights, may use userfaultfd on this node. */
export function postCopySupport(
  { unprivileged, device }: UserfaultfdFacts,
  uid = 107,
): PostCopySupport {
  if (unprivileged === "1") return { supported: true, reason: "vm.unprivileged_userfaultfd is 1" };
  if (device && mayUse(device, uid)) {
    return { supported: true, reason: `/dev/userfaultfd is open to user ${uid}` };
  }
  const reason =
    unprivileged === undefined && !device
      ? "the kernel has no userfaultfd; post-copy is not possible on this node"
      : `user ${uid} may not use userfaultfd; set vm.unprivileged_userfaultfd to 1, or live-migrate without post-copy`;
  return { supported: false, reason };
}

function mayUse(
  { mode, uid: owner, gid }: NonNullable<UserfaultfdFacts["device"]>,
  uid: number,
): boolean {
  const readWrite = 0o6;
  if (owner === uid) return ((mode >> 6) & readWrite) === readWrite;
  return ((gid === uid ? mode >> 3 : mode) & readWrite) === readWrite;
}

/** What this node's kernel says. `root` is the node's, as this process sees it. */
export function userfaultfdFacts(root = "/"): UserfaultfdFacts {
  const seen = <T>(look: () => T): T | undefined => {
    try {
      return look();
    } catch {
      // Kernels before 5.2 and 6.1 have not the one or the other.
      return undefined;
    }
  };
  return {
    unprivileged: seen(() => readFileSync(join(root, sysctl), "utf8").trim()),
    device: seen(() => {
      const { mode, uid, gid } = statSync(join(root, "/dev/userfaultfd"));
      return { mode, uid, gid };
    }),
  };
}

/**
 * Lets every process of the node use userfaultfd. It widens what a hostile process can do to the kernel, so nobody
 * does it unasked.
 */
export function allowUserfaultfd(root = "/"): void {
  writeFileSync(join(root, sysctl), "1");
}
