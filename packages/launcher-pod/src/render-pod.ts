import { assemblePod } from "./assemble-pod.ts";
import { consoleLogContainer } from "./containers/console-log-container.ts";
import { containerDiskContainers } from "./containers/container-disk-containers.ts";
import { hookSidecarContainers } from "./containers/hook-sidecar-containers.ts";
import { logEnvironment } from "./containers/log-verbosity.ts";
import { probes } from "./containers/probes.ts";
import { virtiofsContainers } from "./containers/virtiofs-containers.ts";
import type { LauncherRequest } from "./launcher-request.ts";
import { backupHooks } from "./metadata/backup-hooks.ts";
import { networkConnections, podAnnotations } from "./metadata/pod-annotations.ts";
import { podLabels } from "./metadata/pod-labels.ts";
import type { Pod } from "./pod/pod.ts";
import { emptyDraft, type Step } from "./pod-draft.ts";
import { computeResources } from "./resources/compute-resources.ts";
import { architecturePreference, nodeAffinity } from "./scheduling/node-affinity.ts";
import { nodeSelector } from "./scheduling/node-selector.ts";
import { reservationAffinity } from "./scheduling/reservation-affinity.ts";
import { securityContext, sharedSelinuxLevel } from "./security-context.ts";
import { accessCredentials } from "./volumes/access-credentials.ts";
import { baseDirectories } from "./volumes/base-directories.ts";
import { configVolumes } from "./volumes/config-volumes.ts";
import { diskVolumes } from "./volumes/disk-volumes.ts";
import { hotplugSupport } from "./volumes/hotplug-support.ts";
import { hugePages } from "./volumes/huge-pages.ts";
import { imageVolumes } from "./volumes/image-volumes.ts";
import { launcherSockets } from "./volumes/launcher-sockets.ts";
import { networkInfo } from "./volumes/network-info.ts";
import { persistentState } from "./volumes/persistent-state.ts";
import { virtiofsSockets } from "./volumes/virtiofs-sockets.ts";

/**
 * Everything that a launcher Pod is made of. The order within each list is the order of its volumes, mounts and
 * containers in the Pod.
 */
const steps: readonly Step[] = [
  computeResources,

  baseDirectories,
  configVolumes,
  diskVolumes,
  accessCredentials,
  persistentState,
  imageVolumes,
  launcherSockets,
  hugePages,
  hotplugSupport,
  networkInfo,
  virtiofsSockets,

  logEnvironment,
  probes,
  consoleLogContainer,
  containerDiskContainers,
  virtiofsContainers,
  hookSidecarContainers,

  podLabels,
  podAnnotations,
  networkConnections,
  backupHooks,

  securityContext,
  sharedSelinuxLevel,

  nodeSelector,
  nodeAffinity,
  reservationAffinity,
  architecturePreference,
];

/** Runs every step on an empty draft and assembles the Pod. */
export function renderPod(request: LauncherRequest): Pod {
  const draft = emptyDraft();
  for (const step of steps) step(request, draft);
  return assemblePod(request, draft);
}
