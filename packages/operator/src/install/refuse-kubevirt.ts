import type { Names } from "@virtkit/api/names";
import { at, text } from "@virtkit/api/shape";
import { defineResource, isNotFound, type KubeClient } from "@virtkit/kube";
import { OperatorError } from "../operator-error.ts";

const definitions = defineResource({
  ...{ group: "apiextensions.k8s.io", version: "v1", namespaced: false },
  ...{ plural: "customresourcedefinitions", kind: "CustomResourceDefinition" },
});
const deployments = defineResource({
  ...{ group: "apps", version: "v1", plural: "deployments", kind: "Deployment" },
});

/** KubeVirt's operator has one of these values, by release, in this label of everything that it creates. */
const managedBy = "app.kubernetes.io/managed-by";
const operators: ReadonlySet<string> = new Set(["virt-operator", "kubevirt-operator"]);

/**
 * Refuses to go on where KubeVirt is installed under the same names: to apply our objects would take over its definitions,
 * accounts and components under running VMs, and to remove ours would remove its own.
 *
 * @throws OperatorError `OPERATOR_KUBEVIRT_EXISTS`
 */
export async function refuseKubeVirt(
  client: KubeClient,
  names: Names,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const labelSelector = `${names.labels.app}=virt-operator`;
  const { items } = await client.list(deployments, { labelSelector, limit: 1, signal });
  const [operator] = items;
  if (operator) {
    const { namespace, name } = operator.metadata;
    throw refusal(`KubeVirt's operator is Deployment ${name} in namespace ${namespace}`);
  }
  const name = `virtualmachines.${names.groups.core}`;
  try {
    const { metadata } = await client.get(definitions, { name }, { signal });
    const by = text(at(metadata.labels, managedBy));
    if (operators.has(by)) {
      const left = "if it is left over and no guest of KubeVirt runs, remove that label";
      throw refusal(`CustomResourceDefinition ${name} has the label ${managedBy}=${by}`, left);
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function refusal(found: string, otherwise?: string): OperatorError {
  const message = `KubeVirt is installed in this cluster: ${found}; remove KubeVirt first, or use another cluster`;
  return new OperatorError(
    "OPERATOR_KUBEVIRT_EXISTS",
    otherwise ? `${message}; ${otherwise}` : message,
  );
}
