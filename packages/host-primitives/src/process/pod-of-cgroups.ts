import type { CgroupMembership } from "../cgroups/parse-proc-cgroup.ts";

/** The Pod and container that a process belongs to. */
export interface PodMembership {
  readonly podUid: string;
  /** The container runtime's name for it; absent for a process in the Pod's own cgroup. */
  readonly containerId?: string;
}

const uid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}";
/** The kubelet's directory of a Pod, with its cgroupfs driver. */
const plainPod = new RegExp(`^pod(${uid})$`);
/**
 * The top of the kubelet's cgroups. With the systemd driver, a kubelet with `cgroupRoot` has the names of the slices above it in
 * front of each of its own: kind's has `kubelet-kubepods.slice`.
 */
const top = /^(?:kubepods|(.+-)?kubepods\.slice)$/;
/** A Pod with the systemd driver, which writes dashes as underscores. */
const slicePod = /^kubepods(?:-besteffort|-burstable)?-pod([0-9a-f_]{32,36})\.slice$/;
const scope = /^(?:[a-z0-9]+-)*([0-9a-f]{64})\.scope$/;
const plainContainer = /^[0-9a-f]{64}$/;

/**
 * The Pod that the kubelet put a process into, from its cgroups; undefined if it is in none, or if
 * hierarchies disagree. The kubelet's directories must be directly below one that begins with
 * `kubepods`, because a container may create cgroups of any name below its own.
 */
export function podOfCgroups(memberships: readonly CgroupMembership[]): PodMembership | undefined {
  let found: PodMembership | undefined;
  for (const { path } of memberships) {
    const pod = podOfPath(path);
    if (!pod) continue;
    if (found && found.podUid !== pod.podUid) return undefined;
    found = found?.containerId ? found : pod;
  }
  return found;
}

const classes: readonly string[] = ["besteffort", "burstable"];

function podOfPath(path: string): PodMembership | undefined {
  const parts = path.split("/").filter((part) => part !== "");
  const first = parts.findIndex((part) => top.test(part));
  if (first < 0 || parts.includes("..")) return undefined;
  const above = top.exec(parts[first] ?? "")?.[1] ?? "";
  const own = (part = ""): string => (part.startsWith(above) ? part.slice(above.length) : "");
  const rest = parts.slice(first + 1);
  const quality = own(rest[0]);
  if (classes.includes(quality) || /^kubepods-(besteffort|burstable)\.slice$/.test(quality))
    rest.shift();
  const [pod, container = ""] = [own(rest[0]), rest[1]];
  const podUid = plainPod.exec(pod)?.[1] ?? slicePod.exec(pod)?.[1]?.replaceAll("_", "-");
  if (podUid === undefined) return undefined;
  const containerId = plainContainer.exec(container)?.[0] ?? scope.exec(container)?.[1];
  return { podUid, ...(containerId !== undefined && { containerId }) };
}
