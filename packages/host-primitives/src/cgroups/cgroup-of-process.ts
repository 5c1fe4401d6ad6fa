import { readFileSync } from "node:fs";
import { HostError } from "../host-error.ts";
import { parseMountInfo } from "../mounts/parse-mountinfo.ts";
import type { ProcessHandle } from "../process/process-handle.ts";
import { type Cgroup, openCgroup } from "./cgroup.ts";
import {
  type CgroupLayout,
  type CgroupPlace,
  cgroupLayout,
  cgroupPlace,
  managedCgroupPath,
} from "./cgroup-layout.ts";
import { parseProcCgroup } from "./parse-proc-cgroup.ts";

/** The cgroup layout of the host as this process sees it. */
export function ownCgroupLayout(): CgroupLayout {
  const path = "/proc/self/mountinfo";
  try {
    return cgroupLayout(parseMountInfo(readFileSync(path, "utf8")));
  } catch (error) {
    throw HostError.from(error, path);
  }
}

/**
 * The cgroup that manages a controller for a process: the process's own, or its parent if the
 * process is in a `housekeeping` child. Undefined if no hierarchy has the controller. This process
 * must be in the host's cgroup namespace; otherwise the path leads out of the hierarchy and is
 * refused.
 */
export function cgroupPlaceOf(
  process: ProcessHandle,
  controller: string,
  layout: CgroupLayout = ownCgroupLayout(),
): CgroupPlace | undefined {
  const memberships = parseProcCgroup(process.read("cgroup"));
  const managed = memberships.map((each) => ({ ...each, path: managedCgroupPath(each.path) }));
  const place = cgroupPlace(layout, managed, controller);
  process.assertAlive();
  return place;
}

/**
 * Opens that cgroup. Throws `HOST_UNSUPPORTED` if no hierarchy has the controller.
 *
 * @example
 * using process = ProcessHandle.open(pid);
 * using cgroup = openCgroupOf(process, "devices");
 */
export function openCgroupOf(
  process: ProcessHandle,
  controller: string,
  layout: CgroupLayout = ownCgroupLayout(),
): Cgroup {
  const place = cgroupPlaceOf(process, controller, layout);
  if (place) return openCgroup(place);
  const message = `no cgroup hierarchy of this host has the controller ${controller}; mount one that has it`;
  throw new HostError("HOST_UNSUPPORTED", message, { path: controller });
}
