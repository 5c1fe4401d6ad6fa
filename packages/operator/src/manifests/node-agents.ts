import { networksAnnotation } from "@virtkit/api/network";
import { nodeAgentPort } from "@virtkit/api/subresources/node";
import { askLibvirt, capabilityDirectory } from "@virtkit/node-agent/duties";
import { migrationInterface } from "@virtkit/node-agent/migration";
import { labelsOf, priorityClass, starting } from "./control-plane.ts";
import type { DecidedInstallation } from "./installation.ts";
import { programOf } from "./program.ts";

/**
 * The agent of each node that runs guests. It sees all of its node, because it prepares sandboxes of other
 * Pods.
 */
export function nodeAgents(installation: DecidedInstallation): object {
  const { namespace, image, imagePullPolicy, stateDirectory } = installation;
  const program = programOf(
    "virt-handler",
    [
      ...["--state-directory", stateDirectory],
      ...["--machine-id-file", "/host/machine-id", "--boot-id-file", "/host/boot-id"],
    ],
    installation,
  );
  const labels = labelsOf("virt-handler", installation);
  const host = (name: string, path: string, type: string): object => ({
    name,
    hostPath: { path, type },
  });
  const privileged = { securityContext: { privileged: true } };
  const { kubelet } = installation.names.directories;
  const plugins = `${kubelet}/device-plugins`;
  const seccomp = `${kubelet}/seccomp`;
  const health = { httpGet: { path: "/healthz", port: 8080 }, timeoutSeconds: 5 };
  return {
    ...{ apiVersion: "apps/v1", kind: "DaemonSet" },
    metadata: { name: "virt-handler", namespace, labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } },
      template: {
        metadata: { labels, ...migrationNetwork(installation) },
        spec: {
          ...{ serviceAccountName: "kubevirt-handler", priorityClassName: priorityClass },
          ...{ hostPID: true, nodeSelector: installation.nodeSelector },
          // Guests of a node that is drained or under pressure still need their agent.
          tolerations: [{ operator: "Exists" }],
          initContainers: [
            {
              ...{ name: "virt-launcher", image, imagePullPolicy, ...privileged },
              command: ["/bin/sh", "-c", askLibvirt],
              volumeMounts: [{ name: "capabilities", mountPath: capabilityDirectory }],
            },
          ],
          containers: [
            {
              ...{ name: "virt-handler", image, imagePullPolicy, ...privileged },
              command: program.command,
              env: [{ name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
              ports: [
                { name: "health", containerPort: 8080 },
                { name: "guests", containerPort: nodeAgentPort },
              ],
              startupProbe: starting(health),
              readinessProbe: { ...health, periodSeconds: 1 },
              livenessProbe: { ...health, periodSeconds: 10, failureThreshold: 6 },
              resources: { requests: { cpu: "10m", memory: "150Mi" } },
              volumeMounts: [
                { name: "state", mountPath: stateDirectory },
                { name: "plugins", mountPath: plugins },
                { name: "seccomp", mountPath: seccomp },
                { name: "capabilities", mountPath: capabilityDirectory, readOnly: true },
                { name: "machine-id", mountPath: "/host/machine-id", readOnly: true },
                { name: "boot-id", mountPath: "/host/boot-id", readOnly: true },
                // The node's cgroups: there launchers are allowed to use hotplugged block devices.
                { name: "cgroups", mountPath: "/host/cgroup" },
                ...program.volumeMounts,
              ],
            },
          ],
          volumes: [
            host("state", stateDirectory, "DirectoryOrCreate"),
            host("plugins", plugins, "DirectoryOrCreate"),
            host("seccomp", seccomp, "DirectoryOrCreate"),
            host("machine-id", "/etc/machine-id", "File"),
            host("boot-id", "/proc/sys/kernel/random/boot_id", "File"),
            host("cgroups", "/sys/fs/cgroup", "Directory"),
            { name: "capabilities", emptyDir: {} },
            ...program.volumes,
          ],
        },
      },
    },
  };
}

/** Multus adds the dedicated network to the agents' Pods, where they look for it by the name of the interface. */
function migrationNetwork({ configuration }: DecidedInstallation): object {
  const network = configuration.migrations?.network;
  if (!network) return {};
  return { annotations: { [networksAnnotation]: `${network}@${migrationInterface}` } };
}
