import { readFileSync } from "node:fs";
import { crds } from "@virtkit/api/crd";
import { names } from "@virtkit/api/names";
import { defineResource, HttpClient } from "@virtkit/kube";
import { applyObject } from "@virtkit/kube/writes";

/** @typedef {import("@virtkit/kube").KubeObject} KubeObject */

const { groups } = names();
const group = groups.core;
const version = "v1";
export const vmis = defineResource({
  ...{ group, version, plural: "virtualmachineinstances", kind: "VirtualMachineInstance" },
});
export const vms = defineResource({
  group,
  version,
  plural: "virtualmachines",
  kind: "VirtualMachine",
});
export const pods = defineResource({ version, plural: "pods", kind: "Pod" });
export const revisions = defineResource({
  ...{ group: "apps", version, plural: "controllerrevisions", kind: "ControllerRevision" },
});
export const nodes = defineResource({ version, plural: "nodes", kind: "Node", namespaced: false });
const namespaces = defineResource({
  ...{ version, plural: "namespaces", kind: "Namespace", namespaced: false },
});
const definitions = defineResource({
  ...{ group: "apiextensions.k8s.io", version, namespaced: false },
  ...{ plural: "customresourcedefinitions", kind: "CustomResourceDefinition" },
});
export const namespace = "bench";

/** @param {string} kubeconfig */
export function clientOf(kubeconfig) {
  const { clusters, users } = JSON.parse(readFileSync(kubeconfig, "utf8"));
  const ca = readFileSync(clusters[0].cluster["certificate-authority"]);
  const headers = { authorization: `Bearer ${users[0].user.token}` };
  const { server } = clusters[0].cluster;
  return new HttpClient({ server, credentials: async () => ({ headers, tls: { ca } }) });
}

/** Installs the platform's kinds on an API server. @param {HttpClient} client */
export async function installPlatform(client) {
  for (const crd of crds()) {
    const object = /** @type {KubeObject} */ (/** @type {unknown} */ (crd));
    await applyObject(client, definitions, object, { fieldManager: "bench", force: true });
  }
  await soon(async () => {
    for (const resource of [vms, vmis]) await client.list(resource);
    return true;
  });
  await client.create(namespaces, { metadata: { name: namespace } });
}

/** Waits until a condition holds. An error means not yet. @param {() => Promise<boolean>} isSo */
export async function soon(isSo, milliseconds = 120_000) {
  for (const end = Date.now() + milliseconds; Date.now() < end; ) {
    if (await isSo().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`the condition does not hold after ${milliseconds / 1000} s`);
}
