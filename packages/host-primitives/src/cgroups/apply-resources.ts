import { HostError } from "../host-error.ts";
import type { Cgroup } from "./cgroup.ts";
import { type CgroupResources, type CgroupWrite, planResources } from "./plan-resources.ts";

/** The cgroups of one group of tasks, by controller. On v2 they are all the same one. */
export type CgroupsByController = Readonly<Partial<Record<CgroupWrite["controller"], Cgroup>>>;

/**
 * Writes the limits into the cgroups, in order. Throws at the first that fails; earlier ones stay
 * written.
 */
export function applyResources(cgroups: CgroupsByController, resources: CgroupResources): void {
  for (const version of [1, 2] as const) {
    for (const { controller, file, value } of planResources(version, resources)) {
      const cgroup = cgroups[controller];
      if (!cgroup) {
        const message = `no cgroup was given for the controller ${controller}, so ${file} cannot be set; pass one`;
        throw new HostError("HOST_ARGUMENT_INVALID", message, { path: controller });
      }
      if (cgroup.version === version) cgroup.write(file, value);
    }
  }
}

/**
 * Plans a child cgroup with restricted CPUs. v1 starts a cpuset empty, so the parent's lists are
 * copied. v2 needs the controller enabled and, for single threads, the threaded type. The plan
 * lists what to write where, in order, after the directory has been created.
 */
export function planThreadedChild(
  version: 1 | 2,
  parent: { readonly cpus: string; readonly memoryNodes: string },
): readonly { readonly in: "parent" | "child"; readonly file: string; readonly value: string }[] {
  if (version === 1) {
    return [
      { in: "child", file: "cpuset.mems", value: parent.memoryNodes },
      { in: "child", file: "cpuset.cpus", value: parent.cpus },
    ];
  }
  return [
    { in: "parent", file: "cgroup.subtree_control", value: "+cpuset" },
    { in: "child", file: "cgroup.type", value: "threaded" },
    { in: "child", file: "cgroup.subtree_control", value: "+cpuset" },
  ];
}
