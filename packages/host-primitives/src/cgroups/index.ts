export { applyResources, type CgroupsByController, planThreadedChild } from "./apply-resources.ts";
export { Cgroup, openCgroup } from "./cgroup.ts";
export {
  type CgroupLayout,
  type CgroupMode,
  type CgroupPlace,
  cgroupLayout,
  cgroupPath,
  cgroupPlace,
  managedCgroupPath,
  unifiedPlace,
} from "./cgroup-layout.ts";
export { cgroupPlaceOf, openCgroupOf, ownCgroupLayout } from "./cgroup-of-process.ts";
export { miscCapacity } from "./misc-capacity.ts";
export { type CgroupMembership, parseProcCgroup } from "./parse-proc-cgroup.ts";
export {
  type CgroupResources,
  type CgroupWrite,
  cpuWeight,
  formatList,
  parseList,
  planResources,
} from "./plan-resources.ts";
