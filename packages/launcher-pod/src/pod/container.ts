import type { ExecAction, HTTPGetAction, TCPSocketAction } from "@virtkit/api/schema";
import type { VolumeDevice, VolumeMount } from "./volume.ts";

/** Amounts by resource name, each in the text form of a Kubernetes quantity. */
export type ResourceList = Record<string, string>;

/** What a container asks of its node. Empty maps and lists are left out. */
export interface ContainerResources {
  limits?: ResourceList;
  requests?: ResourceList;
  claims?: { name: string; request?: string }[];
}

/** An environment variable: a value, or a field of the Pod itself. */
export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: { fieldRef: { fieldPath: string } };
}

/** How and how often the kubelet checks a container. */
export interface PodProbe {
  exec?: ExecAction;
  httpGet?: HTTPGetAction;
  tcpSocket?: TCPSocketAction;
  initialDelaySeconds?: number;
  timeoutSeconds?: number;
  periodSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
}

/** SELinux labels, as far as they are used here. */
export interface SELinuxOptions {
  type?: string;
  level?: string;
}

/** A seccomp filter: the runtime's own, or a file on the node. */
export interface SeccompProfile {
  type: string;
  localhostProfile?: string;
}

/** What a container may do. */
export interface SecurityContext {
  capabilities?: { add?: string[]; drop?: string[] };
  seLinuxOptions?: SELinuxOptions;
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  allowPrivilegeEscalation?: boolean;
  readOnlyRootFilesystem?: boolean;
  seccompProfile?: SeccompProfile;
}

/** A container of a Pod. */
export interface Container {
  name: string;
  image?: string;
  command?: readonly string[];
  args?: readonly string[];
  ports?: { name?: string; containerPort: number; protocol?: string }[];
  env?: EnvVar[];
  resources: ContainerResources;
  restartPolicy?: string;
  volumeMounts?: VolumeMount[];
  volumeDevices?: VolumeDevice[];
  livenessProbe?: PodProbe;
  readinessProbe?: PodProbe;
  terminationMessagePolicy?: string;
  imagePullPolicy?: string;
  securityContext?: SecurityContext;
}

/** Helper containers run as the unprivileged user and can only access its files. */
export function unprivileged(userId: number): SecurityContext {
  return {
    capabilities: { drop: ["ALL"] },
    runAsUser: userId,
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
  };
}

/** Runs as a user and group without further privileges. */
export function asUser(userId: number): SecurityContext {
  return {
    runAsUser: userId,
    runAsGroup: userId,
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
  };
}
