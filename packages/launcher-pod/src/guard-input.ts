import { isLauncherPodError, LauncherPodError } from "./launcher-pod-error.ts";

/**
 * Runs a renderer on objects that were never checked. Steps read them as their types say; where one
 * lies (a list that is text, a `null` among volumes) the failure becomes an error that names the
 * first place of a wrong shape. Well-formed input pays nothing.
 */
export function guardInput<T>(vmi: unknown, render: () => T): T {
  try {
    return render();
  } catch (cause) {
    if (isLauncherPodError(cause) || !(cause instanceof TypeError)) throw cause;
    const path = firstWrongShape(vmi);
    const message = `${path || "the VMI"} has the wrong shape (${cause.message}); validate the VMI against its schema first`;
    throw new LauncherPodError("LAUNCHER_POD_VMI_INVALID", message, { path, cause });
  }
}

/** Fields that must be objects, and those that must be lists of objects, from the outside in. */
const objectPaths = ["metadata", "spec", "spec.domain", "spec.domain.devices"];
const listPaths = [
  "spec.volumes",
  "spec.networks",
  "spec.accessCredentials",
  "spec.resourceClaims",
  "spec.domain.cpu.features",
  "spec.domain.devices.disks",
  "spec.domain.devices.interfaces",
  "spec.domain.devices.filesystems",
  "spec.domain.devices.gpus",
  "spec.domain.devices.hostDevices",
  "status.volumeStatus",
];

function firstWrongShape(vmi: unknown): string {
  if (!isObject(vmi)) return "";
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
