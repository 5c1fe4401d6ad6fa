import type { DecidedInstallation } from "./installation.ts";
import { programOf } from "./program.ts";

/** The priority of the components: guests need them. */
export const priorityClass = "kubevirt-cluster-critical";

interface Component {
  readonly name: string;
  readonly account: string;
  readonly args: readonly string[];
  readonly ports: readonly object[];
  readonly probes: object;
  readonly memory: string;
}

/** The API server and the controllers, with their Service and disruption budgets. */
export function controlPlane(installation: DecidedInstallation): readonly object[] {
  const { image, namespace } = installation;
  const health = (path: string, port: number, scheme: string): object => ({
    httpGet: { path, port, scheme },
    ...{ periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 6 },
  });
  const all: readonly Component[] = [
    {
      ...{ name: "virt-api", account: "kubevirt-apiserver", args: [], memory: "150Mi" },
      ports: [
        { name: "https", containerPort: 8443 },
        { name: "metrics", containerPort: 8080 },
      ],
      probes: {
        startupProbe: starting(health("/healthz", 8443, "HTTPS")),
        readinessProbe: { ...health("/readyz", 8443, "HTTPS"), periodSeconds: 1 },
        livenessProbe: health("/healthz", 8443, "HTTPS"),
      },
    },
    {
      ...{ name: "virt-controller", account: "kubevirt-controller", memory: "150Mi" },
      args: ["--launcher-image", image],
      ports: [{ name: "health", containerPort: 8080 }],
      probes: {
        startupProbe: starting(health("/healthz", 8080, "HTTP")),
        readinessProbe: { ...health("/healthz", 8080, "HTTP"), periodSeconds: 1 },
        livenessProbe: health("/healthz", 8080, "HTTP"),
      },
    },
  ];
  return [
    {
      ...{ apiVersion: "v1", kind: "Service", metadata: { name: "virt-api", namespace } },
      spec: {
        selector: labelsOf("virt-api", installation),
        ports: [{ name: "https", port: 443, targetPort: 8443, protocol: "TCP" }],
      },
    },
    ...all.map((component) => budget(component.name, installation)),
    ...all.map((component) => deployment(component, installation)),
  ];
}

/**
 * A probe that gives a program three minutes to start: otherwise a busy node would kill it each time before it
 * is up.
 */
export function starting(probe: object): object {
  return { ...probe, periodSeconds: 1, failureThreshold: 180 };
}

/** The labels of a component's Pods. */
export function labelsOf(
  component: string,
  { names }: DecidedInstallation,
): Readonly<Record<string, string>> {
  return { [names.labels.app]: component };
}

function budget(name: string, installation: DecidedInstallation): object {
  const { namespace, replicas } = installation;
  return {
    ...{ apiVersion: "policy/v1", kind: "PodDisruptionBudget" },
    metadata: { name: `${name}-pdb`, namespace },
    spec: {
      minAvailable: replicas > 1 ? 1 : 0,
      selector: { matchLabels: labelsOf(name, installation) },
    },
  };
}

function deployment(component: Component, installation: DecidedInstallation): object {
  const { name, account, args, ports, probes, memory } = component;
  const { namespace, replicas, image, imagePullPolicy } = installation;
  const program = programOf(name, args, installation);
  const labels = labelsOf(name, installation);
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace, labels } },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          ...{ serviceAccountName: account, priorityClassName: priorityClass },
          nodeSelector: { "kubernetes.io/os": "linux" },
          securityContext: {
            ...{ runAsNonRoot: true, runAsUser: 107, runAsGroup: 107 },
            seccompProfile: { type: "RuntimeDefault" },
          },
          affinity: { podAntiAffinity: apart(labels) },
          tolerations: [{ key: "CriticalAddonsOnly", operator: "Exists" }],
          volumes: program.volumes,
          containers: [
            {
              ...{ name, image, imagePullPolicy, ports, ...probes },
              ...{ command: program.command, volumeMounts: program.volumeMounts },
              resources: { requests: { cpu: "5m", memory } },
              securityContext: {
                ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
                capabilities: { drop: ["ALL"] },
              },
            },
          ],
        },
      },
    },
  };
}

/** Replicas on different nodes, if there are enough. */
function apart(matchLabels: object): object {
  const podAffinityTerm = {
    labelSelector: { matchLabels },
    topologyKey: "kubernetes.io/hostname",
  };
  return { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm }] };
}
