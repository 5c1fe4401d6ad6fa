import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the kernel reports about userfaultfd, which QEMU uses to fetch memory after a post-copy switch. */
export interface UserfaultfdFacts {
  /** `vm.unprivileged_userfaultfd`; undefined if the kernel has no such setting. */
  readonly unprivileged?: string | undefined;
  /** The device node, if the kernel has one. */
  readonly device?:
    | { readonly mode: number; readonly uid: number; readonly gid: number }
    | undefined;
}

/** Whether guests can be moved with post-copy to and from a node. */
export interface PostCopySupport {
  readonly supported: boolean;
  /** Why, and what to do if it is not supported. */
  readonly reason: string;
}

const sysctl = "/proc/sys/vm/unprivileged_userfaultfd";

/** Whether QEMU, as an unprivileged user, may use userfaultfd on this node. */
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
      : `user ${uid} may not use userfaultfd; set vm.unprivileged_userfaultfd to 1, or migrate without post-copy`;
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

/** What this node's kernel reports. `root` is the node's, as this process sees it. */
export function userfaultfdFacts(root = "/"): UserfaultfdFacts {
  const seen = <T>(look: () => T): T | undefined => {
    try {
      return look();
    } catch {
      // Kernels before 5.2 and 6.1 lack the one or the other.
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
 * Lets every process of the node use userfaultfd. It gives a hostile process more ways to attack the kernel, so it
 * is never done unasked.
 */
export function allowUserfaultfd(root = "/"): void {
  writeFileSync(join(root, sysctl), "1");
}
