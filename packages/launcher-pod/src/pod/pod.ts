import type {
  Affinity,
  ObjectMeta,
  PodDNSConfig,
  Toleration,
  TopologySpreadConstraint,
} from "@virtkit/api/schema";
import type { Container, SELinuxOptions, SeccompProfile } from "./container.ts";
import type { PodVolume } from "./volume.ts";

/** What all containers of a Pod may do, and as whom they run. */
export interface PodSecurityContext {
  seLinuxOptions?: SELinuxOptions;
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  fsGroup?: number;
  seccompProfile?: SeccompProfile;
}

/** The spec of a Pod, with the fields that this package writes or reads. */
export interface PodSpec {
  volumes?: PodVolume[];
  initContainers?: Container[];
  containers: Container[];
  restartPolicy?: string;
  terminationGracePeriodSeconds?: number;
  dnsPolicy?: string;
  nodeSelector?: Record<string, string>;
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  nodeName?: string;
  securityContext?: PodSecurityContext;
  imagePullSecrets?: { name: string }[];
  hostname?: string;
  subdomain?: string;
  affinity?: Affinity;
  schedulerName?: string;
  tolerations?: readonly Toleration[];
  priorityClassName?: string;
  dnsConfig?: PodDNSConfig;
  readinessGates?: { conditionType: string }[];
  runtimeClassName?: string;
  enableServiceLinks?: boolean;
  topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  resourceClaims?: {
    name: string;
    resourceClaimName?: string;
    resourceClaimTemplateName?: string;
  }[];
}

/** What the kubelet reports about one container. */
export interface ContainerStatus {
  readonly name: string;
  readonly image?: string;
  readonly imageID?: string;
}

/** What the cluster reports about a Pod, as far as this package reads it. */
export interface PodStatus {
  readonly phase?: string;
  readonly conditions?: readonly { type: string; status: string; reason?: string }[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
}

/** A Kubernetes Pod. */
export interface Pod {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: PodSpec;
  status?: PodStatus;
}

/** A Pod as a cluster reports it: read, never written; parts may be missing. */
export interface ExistingPod {
  readonly metadata?: ObjectMeta;
  readonly spec?: Partial<PodSpec>;
  readonly status?: PodStatus;
}
