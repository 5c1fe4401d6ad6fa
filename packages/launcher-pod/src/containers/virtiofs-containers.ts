import type { Volume } from "@virtkit/api/schema";
import { part } from "../explain.ts";
import type { LauncherDirectories } from "../launcher-profile.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import { asUser, type Container } from "../pod/container.ts";
import type { VolumeMount } from "../pod/volume.ts";
import type { Step } from "../pod-draft.ts";
import { type SupportDefaults, supportResources } from "../resources/support-resources.ts";
import { configMapPath, downwardApiPath, secretPath } from "../volumes/config-volumes.ts";
import { virtiofsVolume } from "../volumes/virtiofs-sockets.ts";

const defaults: SupportDefaults = {
  type: "virtiofs",
  requests: { cpu: "10m", memory: "1M" },
  limits: { cpu: "100m", memory: "80M" },
};

/** Where the kubelet mounts the token of a service account by itself. */
const serviceAccountPath = "/var/run/secrets/kubernetes.io/serviceaccount/";

/**
 * One virtiofsd per volume that a file system of the guest shows. containerPath volumes get theirs when the Pod
 * is admitted: only then is it known what is mounted there.
 */
export const virtiofsContainers: Step = (request, { helpers }) => {
  const { spec, devices, explain } = request;
  if (!devices.filesystems?.length) return;
  const shared = new Set(devices.filesystems.map(({ name }) => name));
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    if (!shared.has(volume.name) || volume.containerPath) continue;
    const container = virtiofsContainer(request, volume);
    helpers.push(container);
    explain?.(
      part.container(container.name),
      `vmi.spec.volumes[${index}]`,
      "vmi.spec.domain.devices.filesystems shows it to the guest",
    );
  }
};

function virtiofsContainer(request: LauncherRequest, volume: Volume): Container {
  const { profile, config, guaranteed } = request;
  const { directories, programs, userId, image } = profile;
  const source = sharedDirectory(volume, directories);
  const mounts: VolumeMount[] = [{ name: virtiofsVolume, mountPath: directories.virtiofs }];
  if (!volume.serviceAccount) mounts.push({ name: volume.name, mountPath: source });
  return {
    name: `virtiofs-${volume.name}`,
    image,
    command: [programs.virtiofsd],
    args: virtiofsdArguments(`${directories.virtiofs}/${volume.name}.sock`, source, volume, userId),
    resources: supportResources(config, defaults, guaranteed),
    volumeMounts: mounts,
    imagePullPolicy: "IfNotPresent",
    securityContext: { capabilities: { drop: ["ALL"] }, ...asUser(userId) },
  };
}

/** Files that cannot be found on the target of a migration become errors in the guest, nothing worse. */
function virtiofsdArguments(
  socket: string,
  source: string,
  { serviceAccount }: Volume,
  userId: number,
): string[] {
  const args = [
    `--socket-path=${socket}`,
    `--shared-dir=${source}`,
    "--sandbox=none",
    "--cache=auto",
    "--migration-on-error=guest-error",
    "--migration-mode=find-paths",
  ];
  // Since Kubernetes 1.36 the token's symlink belongs to the Pod's user, and a guest's kernel
  // refuses to follow a stranger's symlink in a sticky directory: show it as root's.
  if (serviceAccount) args.push(`--translate-uid=host:${userId}:0:1`);
  return args;
}

function sharedDirectory(volume: Volume, directories: LauncherDirectories): string {
  const { name } = volume;
  if (volume.configMap) return configMapPath(directories, name);
  if (volume.secret) return secretPath(directories, name);
  if (volume.serviceAccount) return serviceAccountPath;
  if (volume.downwardAPI) return downwardApiPath(directories, name);
  return `/${name}`;
}
