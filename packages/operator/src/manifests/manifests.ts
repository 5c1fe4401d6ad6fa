import { crds } from "@virtkit/api/crd";
import { apiServices, webhookConfigurations } from "@virtkit/api-server";
import type { KubeObject } from "@virtkit/kube";
import { accounts } from "./accounts.ts";
import { controlPlane, priorityClass } from "./control-plane.ts";
import { type DecidedInstallation, decided, type Installation } from "./installation.ts";
import { nodeAgents } from "./node-agents.ts";

/** What Kubernetes' own admission of Pods lets run in a namespace; also in its warnings and its audit. */
const podSecurity = Object.fromEntries(
  ["enforce", "audit", "warn"].map((mode) => [`pod-security.kubernetes.io/${mode}`, "privileged"]),
);

/**
 * All objects of an installation, in the order in which they are applied. CA bundles are left out: the API
 * server of VMs fills them in, and applying an installation again does not remove them.
 *
 * @example
 * for (const object of manifests({ image: "registry.example/virtkit:1.0.0" })) console.log(JSON.stringify(object));
 */
export function manifests(installation: Installation): readonly KubeObject[] {
  const all = decided(installation);
  const { namespace, names } = all;
  const service = { namespace, name: "virt-api" };
  const { mutating, validating } = webhookConfigurations({ service, caBundle: "" }, names);
  const objects: readonly object[] = [
    {
      ...{ apiVersion: "v1", kind: "Namespace" },
      // Node agents are privileged, and a cluster may allow less where nothing is said.
      metadata: { name: namespace, labels: podSecurity },
    },
    {
      ...{ apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass" },
      metadata: { name: priorityClass },
      value: 1_000_000_000,
      description: "The components that guests need.",
    },
    ...crds({ group: names.groups.core }),
    ...accounts(all),
    kubevirt(all),
    ...[mutating, validating, ...apiServices(service, "", names)].map(withoutBundle),
    ...controlPlane(all),
    nodeAgents(all),
  ];
  return objects as readonly KubeObject[];
}

function kubevirt({
  namespace,
  names,
  configuration,
  imagePullPolicy,
}: DecidedInstallation): object {
  return {
    ...{ apiVersion: `${names.groups.core}/v1`, kind: "KubeVirt" },
    metadata: { name: "kubevirt", namespace },
    spec: { imagePullPolicy, configuration: { imagePullPolicy, ...configuration } },
  };
}

function withoutBundle(object: object): object {
  return JSON.parse(
    JSON.stringify(object, (key: string, value: unknown) =>
      key === "caBundle" ? undefined : value,
    ),
  ) as object;
}
