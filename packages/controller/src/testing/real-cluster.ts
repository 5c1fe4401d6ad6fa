import { crds } from "@virtkit/api/crd";
import { names as namesOf } from "@virtkit/api/names";
import { defineResource, type KubeClient, type KubeObject } from "@virtkit/kube";
import { applyObject } from "@virtkit/kube/writes";
import { vi } from "vitest";
import { vmResources } from "../plan/vm-resources.ts";
import { runScriptedKubelets } from "../service/testing/scripted-kubelets.ts";
import { runScriptedNodeAgents } from "../service/testing/scripted-node-agents.ts";

const names = namesOf();
const definitions = defineResource({
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
});
/** Namespaces. */
const namespaces = defineResource({
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
});

/** Installs the platform's kinds and a namespace on a real API server. */
export async function preparePlatform(client: KubeClient, namespace: string): Promise<void> {
  await installCrds(client);
  await client.create(namespaces, { metadata: { name: namespace } });
}

/** Installs the platform's kinds on a real API server, and waits until they are served. */
export async function installCrds(client: KubeClient): Promise<void> {
  for (const crd of crds() as unknown as KubeObject[]) {
    await applyObject(client, definitions, crd, { fieldManager: "test", force: true });
  }
  const { vms, vmis, migrations, replicaSets, pools } = vmResources(names);
  for (const resource of [vms, vmis, migrations, replicaSets, pools]) {
    await vi.waitFor(() => client.list(resource), { timeout: 30_000, interval: 200 });
  }
}

/** Plays the nodes with scripts: scheduler, kubelets and node agents. */
export async function playNodes(
  client: KubeClient,
  nodes: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  // The node agent says with its heartbeat whether VMIs may come.
  const labels = { "kubernetes.io/arch": "amd64" };
  await Promise.all([
    runScriptedKubelets({ client, nodes, labels, signal }),
    runScriptedNodeAgents({ client, signal, heartbeat: 60_000 }),
  ]);
}
