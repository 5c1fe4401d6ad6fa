import { part } from "../explain.ts";
import type { HookSidecar } from "../hook-sidecars.ts";
import { LauncherPodError } from "../launcher-pod-error.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import {
  asUser,
  type Container,
  type ContainerResources,
  type EnvVar,
  type ResourceList,
} from "../pod/container.ts";
import type { VolumeMount } from "../pod/volume.ts";
import type { PodDraft, Step } from "../pod-draft.ts";
import { hookSocketsVolume } from "../volumes/launcher-sockets.ts";
import { networkInfoVolume } from "../volumes/network-info.ts";
import { userEnvironment } from "./compute-container.ts";

/** The containers of hook sidecars, with the volumes that only they need. */
export const hookSidecarContainers: Step = (request, draft) => {
  for (const [index, sidecar] of request.sidecars.entries()) {
    const container = sidecarContainer(request, sidecar, `hook-sidecar-${index}`);
    addVolumes(request, draft, sidecar);
    draft.helpers.push(container);
    request.explain?.(
      part.container(container.name),
      origin(request, sidecar),
      "hooks into the domain",
    );
  }
};

function origin({ names }: LauncherRequest, { plugin }: HookSidecar): string {
  return plugin === undefined
    ? `vmi.metadata.annotations[${names.annotations.hookSidecars}]`
    : `config.network.binding[${plugin}].sidecarImage`;
}

function sidecarContainer(request: LauncherRequest, sidecar: HookSidecar, name: string): Container {
  const { nonRoot, profile } = request;
  const container: Container = {
    name,
    env: environment(request, sidecar, name),
    resources: sidecarResources(request),
    volumeMounts: mounts(request, sidecar, name),
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: nonRoot
      ? { capabilities: { drop: ["ALL"] }, ...asUser(profile.userId) }
      : { runAsUser: 0, runAsNonRoot: false },
  };
  const image = sidecar.image ?? profile.hookSidecarImage;
  if (image) container.image = image;
  if (sidecar.command) container.command = sidecar.command;
  if (sidecar.args) container.args = sidecar.args;
  if (sidecar.imagePullPolicy) container.imagePullPolicy = sidecar.imagePullPolicy;
  return container;
}

function environment(request: LauncherRequest, { plugin }: HookSidecar, name: string): EnvVar[] {
  const env = [...userEnvironment(request), { name: "CONTAINER_NAME", value: name }];
  if (plugin !== undefined) env.push({ name: "NETWORK_BINDING_PLUGIN_NAME", value: plugin });
  return env;
}

function mounts({ profile }: LauncherRequest, sidecar: HookSidecar, name: string): VolumeMount[] {
  const { hooks, networkInfo } = profile.directories;
  const found: VolumeMount[] = [{ name: hookSocketsVolume, mountPath: hooks, subPath: name }];
  if (sidecar.readsDeviceInfo) found.push({ name: networkInfoVolume, mountPath: networkInfo });
  if (sidecar.configMap) {
    const { name: map, key, hookPath } = sidecar.configMap;
    found.push({ name: map, mountPath: hookPath, ...(key ? { subPath: key } : {}) });
  }
  if (sidecar.pvc) found.push({ name: sidecar.pvc.name, mountPath: sidecar.pvc.volumePath });
  return found;
}

/** A sidecar has no default resources, except limits that the Pod's QoS class needs. */
function sidecarResources({ config, guaranteed }: LauncherRequest): ContainerResources {
  const limits = amounts(
    config.supportContainerLimit("sidecar", "cpu")?.toString() ?? (guaranteed ? "200m" : undefined),
    config.supportContainerLimit("sidecar", "memory")?.toString() ??
      (guaranteed ? "64M" : undefined),
  );
  const requests = guaranteed
    ? { ...limits }
    : amounts(
        config.supportContainerRequest("sidecar", "cpu")?.toString(),
        config.supportContainerRequest("sidecar", "memory")?.toString(),
      );
  const resources: ContainerResources = {};
  if (Object.keys(limits).length > 0) resources.limits = limits;
  if (Object.keys(requests).length > 0) resources.requests = requests;
  return resources;
}

function amounts(cpu: string | undefined, memory: string | undefined): ResourceList {
  const found: ResourceList = {};
  if (cpu) found["cpu"] = cpu;
  if (memory) found["memory"] = memory;
  return found;
}

function addVolumes(request: LauncherRequest, draft: PodDraft, sidecar: HookSidecar): void {
  const { lookup, namespace, explain } = request;
  const { configMap, pvc } = sidecar;
  if (configMap) {
    const { name } = configMap;
    if (!lookup.configMap(namespace, name)) throw missingConfigMap(request, name);
    draft.helperVolumes.push({ name, configMap: { name, defaultMode: 0o755 } });
    explain?.(part.volume(name), origin(request, sidecar), "the script of a hook sidecar");
  }
  if (pvc) {
    const { name, sharedComputePath } = pvc;
    draft.helperVolumes.push({ name, persistentVolumeClaim: { claimName: name } });
    explain?.(part.volume(name), origin(request, sidecar), "the claim of a hook sidecar");
    if (sharedComputePath) draft.mounts.push({ name, mountPath: sharedComputePath });
  }
}

function missingConfigMap({ namespace, names }: LauncherRequest, name: string): LauncherPodError {
  const path = `metadata.annotations.${names.annotations.hookSidecars}`;
  const message = `${path} names the ConfigMap "${name}", which does not exist in namespace "${namespace}"; create it`;
  return new LauncherPodError("LAUNCHER_POD_NOT_FOUND", message, { path });
}
