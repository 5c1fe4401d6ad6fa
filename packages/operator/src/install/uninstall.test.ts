import { defineResource, type KubeClient, type KubeObject, type Resource } from "@virtkit/kube";
import { expect, test } from "vitest";
import { clusterWithDefinitions } from "../testing/cluster-with-definitions.ts";
import { uninstall } from "./uninstall.ts";

const namespace = "kubevirt";
const of = (plural: string, kind: string) =>
  defineResource({ group: "kubevirt.io", version: "v1", plural, kind });
const vms = of("virtualmachines", "VirtualMachine");
const definitions = defineResource({
  ...{ group: "apiextensions.k8s.io", version: "v1", namespaced: false },
  ...{ plural: "customresourcedefinitions", kind: "CustomResourceDefinition" },
});
const vm = {
  metadata: { name: "demo", namespace },
  spec: { runStrategy: "Halted", template: { spec: { domain: { devices: {} } } } },
} as unknown as KubeObject;

async function said(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

test("an installation with VMs is not removed, not even in part", async () => {
  const client = await clusterWithDefinitions(namespace);
  await client.create(vms, vm);
  const { items: before } = await client.list(definitions);
  await expect(said(uninstall({ client }))).rejects.toMatchObject({
    code: "OPERATOR_VMS_EXIST",
    message: expect.stringMatching(/^the cluster has 1 VirtualMachine; delete them, /),
  });
  expect((await client.list(definitions)).items).toHaveLength(before.length);
  expect((await client.list(vms)).items).toHaveLength(1);
});

test("with force its VMs are deleted first; if guests do not end, the rest stays", async () => {
  const client = await clusterWithDefinitions(namespace);
  const held = { ...vm, metadata: { ...vm.metadata, finalizers: ["example.com/runs"] } };
  await client.create(vms, held as KubeObject);
  await expect(said(uninstall({ client, force: true, patience: 20 }))).rejects.toMatchObject({
    code: "OPERATOR_VMS_EXIST",
    message: expect.stringContaining("the cluster still has 1 VirtualMachine; "),
  });
  expect((await client.list(definitions)).items.length).toBeGreaterThan(0);
  const patch = { type: "merge", body: { metadata: { finalizers: null } } } as const;
  await client.patch(vms, { namespace, name: "demo" }, patch);
  expect((await said(uninstall({ client, force: true }))).at(-1)).toMatch(/^removed \d+ objects$/);
  expect((await client.list(definitions)).items).toEqual([]);
});

test("the rest of the installation stays until its components have ended, and Pods of others do not count", async () => {
  const client = await clusterWithDefinitions(namespace);
  const pods = defineResource({ version: "v1", plural: "pods", kind: "Pod" });
  const create = async (name: string, component: string): Promise<void> => {
    const metadata = { namespace, name, labels: { "kubevirt.io": component } };
    const spec = { nodeName: "node-1", containers: [{ name: "main", image: "image" }] };
    await client.create(pods, { metadata, spec } as unknown as KubeObject);
  };
  await create("virt-handler-x", "virt-handler");
  await create("virt-launcher-other", "virt-launcher");
  await expect(said(uninstall({ client, patience: 20 }))).rejects.toMatchObject({
    code: "OPERATOR_NOT_ENDED",
    message: expect.stringMatching(
      /^after 0.02 s these Pods of the components are still there: virt-handler-x on node node-1; /,
    ),
  });
  expect((await client.list(definitions)).items.length).toBeGreaterThan(0);
  await client.delete(pods, { namespace, name: "virt-handler-x" }, { gracePeriodSeconds: 0 });
  expect(await said(uninstall({ client, patience: 20 }))).toContain("the components have ended");
  expect((await client.list(definitions)).items).toEqual([]);
});

test("a VM that is created while the components end keeps the definitions", async () => {
  const client = await clusterWithDefinitions(namespace);
  const lines = uninstall({
    client: {
      ...client,
      get: client.get.bind(client),
      request: client.request.bind(client),
      create: client.create.bind(client),
      patch: client.patch.bind(client),
      delete: client.delete.bind(client),
      watch: client.watch.bind(client),
      async list(resource, options) {
        // The components are looked for after the VMs.
        if (options?.labelSelector?.includes("virt-handler")) await client.create(vms, vm);
        return await client.list(resource, options);
      },
    } as KubeClient,
  });
  await expect(said(lines)).rejects.toMatchObject({
    code: "OPERATOR_VMS_EXIST",
    message: expect.stringMatching(/^meanwhile, the cluster got 1 VirtualMachine, so /),
  });
  expect((await client.list(vms)).items).toHaveLength(1);
  expect((await client.list(definitions)).items.length).toBeGreaterThan(0);
});

test("the namespace stays with the Pods and claims of others, and what was created in it for the components goes", async () => {
  const client = await clusterWithDefinitions(namespace);
  const core = (plural: string, kind: string) => defineResource({ version: "v1", plural, kind });
  const claims = core("persistentvolumeclaims", "PersistentVolumeClaim");
  const secrets = core("secrets", "Secret");
  const create = async (resource: Resource, name: string, more: object = {}): Promise<void> => {
    const metadata = { namespace, name, ...more };
    await client.create(resource, { metadata, spec: {} } as unknown as KubeObject);
  };
  await create(secrets, "virtkit-ca");
  await create(secrets, "of-others");
  await create(claims, "data");
  const vmOwner = { apiVersion: "kubevirt.io/v1", kind: "VirtualMachine", name: "x", uid: "1" };
  await create(claims, "state-of-a-vm", { ownerReferences: [vmOwner] });
  const lines = await said(uninstall({ client }));
  expect(lines).toContain("namespace kubevirt stays: it has PersistentVolumeClaim data");
  const namesOf = async (resource: Resource): Promise<readonly unknown[]> =>
    (await client.list(resource, { namespace })).items.map(({ metadata }) => metadata.name);
  expect(await namesOf(secrets)).toEqual(["of-others"]);
  expect(await namesOf(claims)).toContain("data");
  expect((await client.list(definitions)).items).toEqual([]);

  await client.delete(claims, { namespace, name: "data" });
  expect((await said(uninstall({ client }))).join()).not.toContain("stays");
});

test("removing a missing installation does nothing, and says so without an error", async () => {
  const client = await clusterWithDefinitions(namespace);
  await said(uninstall({ client }));
  await said(uninstall({ client }));
});
