import { crds } from "@virtkit/api/crd";
import type { KubeClient, KubeObject } from "@virtkit/kube";
import { InProcessApiServer } from "@virtkit/testing/api-server";
import { expect, test } from "vitest";
import { install } from "./install.ts";
import { resourceOf } from "./resource-of.ts";
import { uninstall } from "./uninstall.ts";

const image = "registry.example/virtkit:1.0.0";
const definition = crds().find(
  ({ metadata }) => metadata.name === "virtualmachines.kubevirt.io",
) as unknown as KubeObject;
const deployment = {
  ...{ apiVersion: "apps/v1", kind: "Deployment" },
  metadata: { name: "virt-operator", namespace: "vms", labels: { "kubevirt.io": "virt-operator" } },
  spec: { selector: {}, template: {} },
} as unknown as KubeObject;

/** A cluster in which these objects are, and whether there are still no others. */
async function clusterWith(object: KubeObject): Promise<[KubeClient, () => Promise<boolean>]> {
  const server = new InProcessApiServer();
  const client = server.client("test");
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "vms" } };
  await client.create(resourceOf(namespace), namespace);
  const created = await client.create(resourceOf(object), object);
  const isUnchanged = async (): Promise<boolean> => {
    const { namespace: place, name = "" } = object.metadata;
    const at = place === undefined ? { name } : { namespace: place, name };
    const now = await client.get(resourceOf(object), at);
    const account = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" };
    const { items } = await client.list(resourceOf({ ...account, metadata: {} }));
    return now.metadata.resourceVersion === created.metadata.resourceVersion && items.length === 0;
  };
  return [client, isUnchanged];
}

const managed = (by: string): KubeObject => ({
  ...definition,
  metadata: { ...definition.metadata, labels: { "app.kubernetes.io/managed-by": by } },
});

test.each([
  ["its operator", deployment, /operator is Deployment virt-operator in namespace vms; remove/],
  ["definitions that it created", managed("virt-operator"), /managed-by=virt-operator; remove/],
  ["definitions of an old release", managed("kubevirt-operator"), /remove that label$/],
])(
  "nothing is installed over KubeVirt, and nothing of it is removed: %s",
  async (_, found, words) => {
    const [client, isUnchanged] = await clusterWith(found);
    const refusal = {
      code: "OPERATOR_KUBEVIRT_EXISTS",
      message: expect.stringMatching(/^KubeVirt is installed in this cluster: /),
    };
    await expect(install({ client, image }).next()).rejects.toMatchObject(refusal);
    await expect(install({ client, image }).next()).rejects.toThrow(words);
    await expect(uninstall({ client, force: true }).next()).rejects.toMatchObject(refusal);
    expect(await isUnchanged()).toBe(true);
  },
);

test("definitions of another installation of ours are no reason", async () => {
  const [client] = await clusterWith(managed("somebody"));
  expect((await install({ client, image }).next()).value).toMatch(/^applying /);
});
