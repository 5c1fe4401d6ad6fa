import type { Affinity } from "@virtkit/api/schema";
import type { LauncherRequest } from "./launcher-request.ts";
import type { Container, ContainerResources, EnvVar, PodProbe } from "./pod/container.ts";
import type { PodSecurityContext } from "./pod/pod.ts";
import type { PodVolume, VolumeDevice, VolumeMount } from "./pod/volume.ts";

/** The Pod under construction. Steps add to it; none removes what another has added. */
export interface PodDraft {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly volumes: PodVolume[];
  /** Of the compute container, like the next four. */
  readonly mounts: VolumeMount[];
  readonly blockDevices: VolumeDevice[];
  readonly sharedFilesystems: string[];
  readonly env: EnvVar[];
  resources: ContainerResources;
  readonly probes: { livenessProbe?: PodProbe; readinessProbe?: PodProbe };
  readonly initContainers: Container[];
  /** All except the compute container, which always comes first. */
  readonly helpers: Container[];
  /** Volumes that only helpers mount; they come last. */
  readonly helperVolumes: PodVolume[];
  readonly nodeSelector: Record<string, string>;
  affinity: Affinity | undefined;
  readonly securityContext: PodSecurityContext;
}

/** A step of rendering: reads the request, adds one concern to the draft. */
export type Step = (request: LauncherRequest, draft: PodDraft) => void;

/** A draft with nothing in it. */
export function emptyDraft(): PodDraft {
  return {
    labels: {},
    annotations: {},
    volumes: [],
    mounts: [],
    blockDevices: [],
    sharedFilesystems: [],
    env: [],
    resources: {},
    probes: {},
    initContainers: [],
    helpers: [],
    helperVolumes: [],
    nodeSelector: {},
    affinity: undefined,
    securityContext: {},
  };
}
