import { posix } from "node:path";
import type { MountInfo } from "./parse-mountinfo.ts";

/** The fields of a mount that decide whether it shows the same content as another. */
export type ComparableMount = Pick<
  MountInfo,
  "major" | "minor" | "root" | "mountPoint" | "fileSystemType" | "source"
>;

/** What is known about the container's mount in addition to its line in mountinfo. */
export interface ParentMountHints {
  /**
   * Source of a network file system, such as `server:/export`; two exports may share a device
   * number.
   */
  readonly source?: string;
  /** With `kubeletPodsDirectory`: excludes mounts that the kubelet made for other Pods. */
  readonly podUid?: string;
  readonly kubeletPodsDirectory?: string;
}

/**
 * Whether a mount of the node shows the same part of a file system as `child`, a mount inside a
 * container: the same device, a root that contains the child's, for NFS the same export, and not a
 * mount of the kubelet for another Pod.
 */
export function mayContainMount(
  child: ComparableMount,
  candidate: ComparableMount,
  { source = "", podUid = "", kubeletPodsDirectory = "" }: ParentMountHints = {},
): boolean {
  if (candidate.major !== child.major || candidate.minor !== child.minor) return false;
  // A plain prefix, as KubeVirt compares: "/a" also matches "/ab". parentMount is stricter.
  if (!child.root.startsWith(candidate.root)) return false;
  const network = candidate.fileSystemType.includes("nfs");
  if (network && candidate.fileSystemType === child.fileSystemType && candidate.source !== source) {
    return false;
  }
  return !belongsToOtherPod(candidate.mountPoint, podUid, kubeletPodsDirectory);
}

function belongsToOtherPod(mountPoint: string, podUid: string, podsDirectory: string): boolean {
  if (podUid === "" || podsDirectory === "") return false;
  const prefix = `${clean(podsDirectory).replace(/\/+$/, "")}/`;
  const path = clean(mountPoint);
  return path.startsWith(prefix) && !path.startsWith(`${prefix}${podUid}/`);
}

/**
 * Like Go's `filepath.Clean`: no `.` or `..`, no double or trailing slash; the empty path is `.`.
 */
function clean(path: string): string {
  const normal = posix.normalize(path);
  return normal.length > 1 ? normal.replace(/\/$/, "") : normal;
}

/**
 * The node's mount that shows a container's mount, and the rest of the path below it. Takes the
 * candidate with the longest root. Undefined if there is none.
 */
export function parentMount<T extends ComparableMount>(
  child: ComparableMount,
  mountsOfNode: readonly T[],
  hints: ParentMountHints = {},
): { readonly mount: T; readonly relativePath: string } | undefined {
  let best: T | undefined;
  for (const candidate of mountsOfNode) {
    if (!mayContainMount(child, candidate, hints)) continue;
    if (!isBelow(child.root, candidate.root)) continue;
    if (best === undefined || candidate.root.length > best.root.length) best = candidate;
  }
  if (best === undefined) return undefined;
  return { mount: best, relativePath: child.root.slice(best.root.length).replace(/^\/+/, "") };
}

function isBelow(path: string, directory: string): boolean {
  return (
    path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`)
  );
}
