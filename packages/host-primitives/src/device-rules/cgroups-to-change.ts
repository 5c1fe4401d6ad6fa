import { posix } from "node:path";

/** The cgroups that need a device filter for one container. */
export interface CgroupsToChange {
  readonly target: string;
  readonly parent?: string;
}

/**
 * A container's own cgroup. Also its parent, if the runtime nests a `container` cgroup in a scope
 * (as crun does) and has attached a filter to both.
 */
export function cgroupsToChange(directory: string): CgroupsToChange {
  // The parent by the last slash: "x.scope/container/" has the parent "x.scope/container".
  const parent = posix.normalize(directory.slice(0, directory.lastIndexOf("/") + 1) || ".");
  const clean = parent.length > 1 ? parent.replace(/\/$/, "") : parent;
  const nested = posix.basename(directory) === "container" && clean.endsWith(".scope");
  return nested ? { parent: clean, target: directory } : { target: directory };
}
