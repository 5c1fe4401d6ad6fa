import type { LauncherRequest } from "../launcher-request.ts";
import { asUser, type Container, type EnvVar, type SecurityContext } from "../pod/container.ts";
import type { PodDraft } from "../pod-draft.ts";
import { launchOf } from "./launcher-command.ts";

/** The container in which the launcher, libvirt and QEMU run. */
export function computeContainer(request: LauncherRequest, draft: PodDraft): Container {
  const { profile, config } = request;
  const container: Container = {
    name: computeName,
    image: profile.image,
    command: profile.command(launchOf(request)),
    env: computeEnvironment(request, draft),
    resources: draft.resources,
    volumeMounts: draft.mounts,
    terminationMessagePolicy: "FallbackToLogsOnError",
    imagePullPolicy: config.imagePullPolicy,
    securityContext: computeSecurity(request),
  };
  const ports = portsOf(request);
  if (ports.length > 0) container.ports = ports;
  if (draft.blockDevices.length > 0) container.volumeDevices = draft.blockDevices;
  const { livenessProbe, readinessProbe } = draft.probes;
  if (livenessProbe) container.livenessProbe = livenessProbe;
  if (readinessProbe) container.readinessProbe = readinessProbe;
  request.explain?.("spec.containers[compute]", "profile.command", "runs libvirt and the guest");
  return container;
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

function computeEnvironment(request: LauncherRequest, draft: PodDraft): EnvVar[] {
  const env = userEnvironment(request);
  const { sharedFilesystems: shared } = draft;
  if (shared.length > 0) env.push({ name: "SHARED_FILESYSTEM_PATHS", value: shared.join(":") });
  env.push(...draft.env, ...(request.profile.environment ?? []));
  return env;
}

/**
 * The launcher's program has a file capability for low ports, so the container needs it, too. Root also pins
 * vCPUs; for an unprivileged launcher the node agent does that.
 */
function computeSecurity({ nonRoot, profile }: LauncherRequest): SecurityContext {
  if (!nonRoot) {
    return {
      capabilities: { add: ["NET_BIND_SERVICE", "SYS_NICE"] },
      runAsUser: 0,
      runAsNonRoot: false,
    };
  }
  const context = asUser(profile.userId);
  context.capabilities = { add: ["NET_BIND_SERVICE"], drop: ["ALL"] };
  if (profile.readOnlyRoot) context.readOnlyRootFilesystem = true;
  return context;
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
