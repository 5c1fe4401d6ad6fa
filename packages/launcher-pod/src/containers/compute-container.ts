import type { LauncherRequest } from "../launcher-request.ts";
import type { Container, EnvVar, SecurityContext } from "../pod/container.ts";
import type { PodDraft } from "../pod-draft.ts";
import { launchOf } from "./launcher-command.ts";

/** The container in which the launcher, libvirt and QEMU run. */
export function computeContainer(request: LauncherRequest, draft: PodDraft): Container {
  const { profile, config } = request;
  const container: Container = {
    name: computeName,
    image: profile.image,
    command: profile.command(launchOf(request)),
    env: [...userEnvironment(request), ...sharedFilesystems(draft), ...draft.env],
    resources: draft.resources,
    volumeMounts: draft.mounts,
    terminationMessagePolicy: "FallbackToLogsOnError",
    imagePullPolicy: config.imagePullPolicy,
    securityContext: computeSecurity(request),
  };
  const ports = portsOf(request);
  if (ports.length > 0) container.ports = ports;
  if (draft.blockDevices.length > 0) container.volumeDevices = draft.blockDevices;
  request.explain?.("spec.containers[compute]", "profile.command", "runs libvirt and the guest");
  return Object.assign(container, draft.probes);
}

/** Name of the container; tools such as kubectl logs find it by an annotation. */
export const computeName = "compute";

/** An unprivileged libvirt keeps its state where XDG variables say. */
export function userEnvironment({ nonRoot, profile }: LauncherRequest): EnvVar[] {
  if (!nonRoot) return [];
  const { private: home } = profile.directories;
  return [
    { name: "XDG_CACHE_HOME", value: home },
    { name: "XDG_CONFIG_HOME", value: home },
    { name: "XDG_RUNTIME_DIR", value: "/var/run" },
  ];
}

function sharedFilesystems({ sharedFilesystems: paths }: PodDraft): EnvVar[] {
  return paths.length > 0 ? [{ name: "SHARED_FILESYSTEM_PATHS", value: paths.join(":") }] : [];
}

/**
 * The launcher's program has a file capability for low ports, so the container needs it, too.
 * Root also pins vCPUs, for which an unprivileged launcher has the node agent.
 */
function computeSecurity({ nonRoot, profile }: LauncherRequest): SecurityContext {
  if (!nonRoot) {
    return {
      capabilities: { add: ["NET_BIND_SERVICE", "SYS_NICE"] },
      runAsUser: 0,
      runAsNonRoot: false,
    };
  }
  return {
    capabilities: { add: ["NET_BIND_SERVICE"], drop: ["ALL"] },
    ...asUser(profile.userId),
  };
}

/** Runs as a user and group that can gain nothing. */
export function asUser(userId: number): SecurityContext {
  return {
    runAsUser: userId,
    runAsGroup: userId,
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
  };
}

function portsOf({ devices }: LauncherRequest): NonNullable<Container["ports"]> {
  const ports: NonNullable<Container["ports"]> = [];
  for (const { ports: wanted } of devices.interfaces ?? []) {
    for (const { name, port, protocol } of wanted ?? []) {
      const containerPort = { containerPort: port, protocol: protocol || "TCP" };
      ports.push(name ? { name, ...containerPort } : containerPort);
    }
  }
  return ports;
}
