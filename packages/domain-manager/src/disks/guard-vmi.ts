import { DiskError } from "./disk-error.ts";

/**
 * Runs a planner on a VMI that was never checked. Planners read it as its type says; where that lies (a
 * list that is text, a `null` among volumes), the failure becomes an error that names the first place
 * of a wrong shape. A well-formed VMI pays nothing.
 */
export function guardVmi<T>(vmi: unknown, plan: () => T): T {
  try {
    return plan();
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    const path = firstWrongShape(vmi);
    // Not the cause's own words: V8 quotes values in them.
    const message = `${path}: has the wrong shape; validate the VMI against its schema first`;
    throw new DiskError("DISK_VMI_INVALID", message, { path });
  }
}

const objectPaths = ["spec", "spec.domain"];
const listPaths = [
  "spec.volumes",
  "spec.accessCredentials",
  "spec.domain.devices.disks",
  "spec.domain.devices.interfaces",
  "spec.domain.devices.hostDevices",
  "spec.domain.devices.gpus",
  "status.volumeStatus",
];

function firstWrongShape(vmi: unknown): string {
  for (const path of objectPaths) if (!isObject(at(vmi, path))) return path;
  for (const path of listPaths) {
    const list = at(vmi, path) ?? [];
    if (!Array.isArray(list)) return path;
    const index = list.findIndex((item) => !isObject(item));
    if (index >= 0) return `${path}[${index}]`;
  }
  return "spec";
}

function at(value: unknown, path: string): unknown {
  let current = value;
  for (const key of path.split(".")) current = isObject(current) ? current[key] : undefined;
  return current;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
