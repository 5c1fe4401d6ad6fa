import { LauncherPodError } from "../launcher-pod-error.ts";
import type { PodSecurityContext } from "../pod/pod.ts";

const path = "status.selinuxContext";

/**
 * The security context of a migration's target, with the SELinux level of the source, so that both can open the
 * same files. A context of "none" means that the node has no SELinux; a context without a level changes nothing.
 * The result replaces all SELinux options, including the launcher's type, as in KubeVirt.
 */
export function targetSelinux(
  securityContext: PodSecurityContext | undefined,
  selinuxContext: string | undefined,
): PodSecurityContext | undefined {
  if (selinuxContext === "none") return securityContext;
  if (!selinuxContext) {
    const message = `${path} is missing; wait until the node agent has reported it`;
    throw new LauncherPodError("LAUNCHER_POD_SOURCE_INVALID", message, { path });
  }
  if (typeof selinuxContext !== "string") throw invalidContext(JSON.stringify(selinuxContext));
  const level = selinuxLevel(selinuxContext);
  return level ? { ...securityContext, seLinuxOptions: { level } } : securityContext;
}

/** What follows user, role and type; it may itself contain colons. Throws if one of those is missing. */
function selinuxLevel(context: string): string {
  const fields = context.split(":");
  if (fields.length < 3) throw invalidContext(context);
  return fields.slice(3).join(":");
}

/** The error for a context that is not user:role:type:level. */
export function invalidContext(context: string): LauncherPodError {
  const message = `${path} is "${context}", not user:role:type:level; the node agent must report it again`;
  return new LauncherPodError("LAUNCHER_POD_SOURCE_INVALID", message, { path });
}
