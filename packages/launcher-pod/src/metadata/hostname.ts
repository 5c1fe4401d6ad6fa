import type { LauncherRequest } from "../launcher-request.ts";

const maxLabelLength = 63;

/** The guest's host name: as set, or the VMI's name up to the first dot, cut to a DNS label. */
export function hostnameOf({ spec, name }: Pick<LauncherRequest, "spec" | "name">): string {
  if (spec.hostname) return spec.hostname;
  const dot = name.indexOf(".");
  return name.slice(0, dot < 0 ? maxLabelLength : Math.min(dot, maxLabelLength));
}
