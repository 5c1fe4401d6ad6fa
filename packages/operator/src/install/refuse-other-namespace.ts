import type { Names } from "@virtkit/api/names";
import { defineResource, type KubeClient } from "@virtkit/kube";
import { OperatorError } from "../operator-error.ts";

const deployments = defineResource({
  ...{ group: "apps", version: "v1", plural: "deployments", kind: "Deployment" },
});

/**
 * Refuses to go on if the components run in another namespace than the one that was named: definitions, roles and webhooks exist
 * once in a cluster, so a second installation would take them over, and a removal would take them away from running components.
 *
 * @throws OperatorError `OPERATOR_OTHER_NAMESPACE`
 */
export async function refuseOtherNamespace(
  client: KubeClient,
  { namespace, names }: { readonly namespace: string; readonly names: Names },
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const labelSelector = `${names.labels.app} in (virt-api,virt-controller)`;
  const { items } = await client.list(deployments, { labelSelector, signal });
  const other = items.find(({ metadata }) => metadata.namespace !== namespace)?.metadata.namespace;
  if (other === undefined) return;
  const message = `the components are installed in namespace ${other}, not in ${namespace}; use --namespace ${other}`;
  throw new OperatorError("OPERATOR_OTHER_NAMESPACE", message);
}
