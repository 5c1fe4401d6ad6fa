import { HostError } from "../host-error.ts";
import type { MountInfo } from "../mounts/parse-mountinfo.ts";
import type { CgroupMembership } from "./parse-proc-cgroup.ts";

/** Which hierarchies a host has. `hybrid`: v1 controllers, and a v2 hierarchy beside them. */
export type CgroupMode = "v1" | "v2" | "hybrid";

/** Where a host's cgroup hierarchies are mounted. */
export interface CgroupLayout {
  readonly mode: CgroupMode;
  /** Mount point of the v2 hierarchy. */
  readonly unified?: string;
  /** Mount point of each v1 controller. */
  readonly controllers: Readonly<Record<string, string>>;
}

/** Finds the hierarchies among a process's mounts. Throws `HOST_UNSUPPORTED` if there are none. */
export function cgroupLayout(mounts: readonly MountInfo[]): CgroupLayout {
  const controllers: Record<string, string> = {};
  let unified: string | undefined;
  for (const { fileSystemType, mountPoint, superOptions, root } of mounts) {
    // A bind mount of a part of a hierarchy is not its root.
    if (root !== "/") continue;
    if (fileSystemType === "cgroup2") unified ??= mountPoint;
    if (fileSystemType !== "cgroup") continue;
    for (const controller of superOptions.filter(isController))
      controllers[controller] ??= mountPoint;
  }
  const hasV1 = Object.keys(controllers).some((name) => !name.startsWith("name="));
  if (unified === undefined && !hasV1) {
    const message = "no cgroup hierarchy is mounted; mount cgroup2 at /sys/fs/cgroup";
    throw new HostError("HOST_UNSUPPORTED", message, { path: "mountinfo" });
  }
  const mode = unified === undefined ? "v1" : hasV1 ? "hybrid" : "v2";
  return { mode, ...(unified !== undefined && { unified }), controllers };
}

const notControllers: readonly string[] = ["rw", "ro", "xattr", "noprefix", "clone_children"];

function isController(option: string): boolean {
  if (option.startsWith("name=")) return true;
  return !notControllers.includes(option) && !option.includes("=");
}

/** One directory of a cgroup hierarchy. */
export interface CgroupPlace {
  readonly version: 1 | 2;
  /** Mount point of the hierarchy. */
  readonly root: string;
  /** Path below the mount point, with a leading slash and without `.` and `..`. */
  readonly path: string;
}

/**
 * The directory that manages `controller` for a process. On a hybrid layout v1 manages the
 * controllers that it has, and v2 the rest. Undefined if no hierarchy has the controller.
 */
export function cgroupPlace(
  layout: CgroupLayout,
  memberships: readonly CgroupMembership[],
  controller: string,
): CgroupPlace | undefined {
  const v1 = layout.controllers[controller];
  const line = memberships.find(({ controllers }) => controllers.includes(controller));
  if (v1 !== undefined && line) return { version: 1, root: v1, path: cgroupPath(line.path) };
  return unifiedPlace(layout, memberships);
}

/** The process's directory in the v2 hierarchy, if there is one. */
export function unifiedPlace(
  layout: CgroupLayout,
  memberships: readonly CgroupMembership[],
): CgroupPlace | undefined {
  const line = memberships.find(({ hierarchy }) => hierarchy === 0);
  if (layout.unified === undefined || !line) return undefined;
  return { version: 2, root: layout.unified, path: cgroupPath(line.path) };
}

/**
 * Checks a path from `/proc/<pid>/cgroup`. A process in another cgroup namespace shows a path with
 * `..`, and a forged path may contain it too. Such a path is refused, because joined to the mount
 * point it would lead out of the hierarchy.
 */
export function cgroupPath(path: string): string {
  const components = path.split("/").filter((part) => part !== "");
  const bad = components.some((part) => part === "." || part === ".." || part.includes("\0"));
  if (path.startsWith("/") && !bad) return `/${components.join("/")}`;
  const message = `${JSON.stringify(path)} is not a path inside a cgroup hierarchy; run in the host's cgroup namespace`;
  throw new HostError("HOST_PATH_UNSAFE", message, { path });
}

const housekeeping = "housekeeping";

/**
 * The cgroup to manage for a task's cgroup path. Threads that were moved to the `housekeeping`
 * child belong to its parent; the result then ends in a slash. A relative path loses its first
 * component, as in KubeVirt.
 */
export function managedCgroupPath(taskPath: string): string {
  const parts = taskPath.split("/");
  if (parts.at(-1) !== housekeeping) return taskPath;
  return `/${parts.slice(1, -1).join("/")}/`;
}
