import { at } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";
import { InProcessApiServer } from "@virtkit/testing/api-server";
import { expect, test } from "vitest";
import { manifests } from "../manifests/manifests.ts";
import { install } from "./install.ts";
import { resourceOf } from "./resource-of.ts";

const image = "registry.example/virtkit:1.0.0";
const all = manifests({ image });

async function ended(lines: AsyncIterable<string>): Promise<string[]> {
  const said: string[] = [];
  for await (const line of lines) said.push(line);
  return said;
}

const placeOf = ({ metadata: { namespace, name = "" } }: KubeObject) =>
  namespace === undefined ? { name } : { namespace, name };

/** The status of objects that are ready in Kubernetes. */
const readyStatus: Readonly<Record<string, object>> = {
  APIService: { conditions: [{ type: "Available", status: "True" }] },
  Deployment: { observedGeneration: 1, replicas: 2, readyReplicas: 2, updatedReplicas: 2 },
  DaemonSet: {
    ...{ observedGeneration: 1, desiredNumberScheduled: 2, numberReady: 2 },
    ...{ updatedNumberScheduled: 2, currentNumberScheduled: 2, numberMisscheduled: 0 },
  },
  KubeVirt: {
    ...{ observedGeneration: 1, phase: "Deployed" },
    observedDeploymentConfig: JSON.stringify({ "virt-api": image, "virt-launcher": image }),
  },
};

test("applies everything, names what does not become ready in time, ends once all is ready, and can be repeated", async () => {
  const client = new InProcessApiServer().client("test");
  const system = { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system" } };
  await client.create(resourceOf(system), system).catch(() => undefined);
  await expect(ended(install({ client, image, patience: 30 }))).rejects.toMatchObject({
    code: "OPERATOR_NOT_READY",
    message: expect.stringMatching(/^APIService \S+ is not ready after 0\.03 s; its status is /),
  });
  for (const object of all) {
    await client.get(resourceOf(object), placeOf(object));
    const status = readyStatus[object.kind ?? ""];
    if (!status) continue;
    const patch = { type: "merge", body: { status } } as const;
    await client.patch(resourceOf(object), placeOf(object), patch, { subresource: "status" });
  }
  const said = await ended(install({ client, image, patience: 30 }));
  expect(said.filter((line) => line.endsWith("is ready"))).toHaveLength(6);
  expect(said.at(-1)).toBe("KubeVirt kubevirt is ready");
  expect(await ended(install({ client, image, patience: 30 }))).toEqual(said);
});

test("says which image cannot be pulled if a component does not become ready", async () => {
  const client = new InProcessApiServer().client("test");
  const system = { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system" } };
  await client.create(resourceOf(system), system).catch(() => undefined);
  await ended(install({ client, image, patience: 30 })).catch(() => undefined);
  const pod = {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: { namespace: "kubevirt", name: "virt-api-x", labels: { "kubevirt.io": "virt-api" } },
    spec: { containers: [{ name: "virt-api", image }] },
  };
  await client.create(resourceOf(pod), pod as KubeObject);
  const state = { waiting: { reason: "ErrImagePull", message: `${image}: not found` } };
  const body = { status: { containerStatuses: [{ name: "virt-api", state }] } };
  const patch = { type: "merge", body } as const;
  await client.patch(resourceOf(pod), placeOf(pod), patch, { subresource: "status" });
  await expect(ended(install({ client, image, patience: 30 }))).rejects.toThrow(
    `; Pod virt-api-x: container virt-api: ErrImagePull: ${image}: not found`,
  );
});

test("agents join the migration network that a person has put into the KubeVirt object, at the next installation", async () => {
  const client = new InProcessApiServer().client("test");
  const find = (kind: string) => all.find((each) => each.kind === kind) as KubeObject;
  const [kubevirt, agents] = [find("KubeVirt"), find("DaemonSet")];
  const system = { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system" } };
  await client.create(resourceOf(system), system).catch(() => undefined);
  const again = async (configuration = {}): Promise<unknown> => {
    const lines = ended(install({ client, image, patience: 30, configuration }));
    await expect(lines).rejects.toMatchObject({ code: "OPERATOR_NOT_READY" });
    const { spec } = (await client.get(resourceOf(agents), placeOf(agents))) as { spec?: unknown };
    return at(spec, "template", "metadata", "annotations");
  };
  expect(await again()).toBeUndefined();
  const body = { spec: { configuration: { migrations: { network: "moves" } } } };
  await client.patch(resourceOf(kubevirt), placeOf(kubevirt), { type: "merge", body });
  const key = "k8s.v1.cni.cncf.io/networks";
  expect(await again()).toEqual({ [key]: "moves@migration0" });
  const migrations = { network: "other" };
  expect(await again({ migrations })).toEqual({ [key]: "other@migration0" });
});

test("an update ends only once the controllers report the new image", async () => {
  const client = new InProcessApiServer().client("test");
  const system = { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system" } };
  await client.create(resourceOf(system), system).catch(() => undefined);
  await ended(install({ client, image, patience: 30 })).catch(() => undefined);
  for (const object of all) {
    const status = readyStatus[object.kind ?? ""];
    if (!status) continue;
    const patch = { type: "merge", body: { status } } as const;
    await client.patch(resourceOf(object), placeOf(object), patch, { subresource: "status" });
  }
  await ended(install({ client, image, patience: 30 }));
  const next = "registry.example/virtkit:1.0.1";
  await ended(install({ client, image: next, patience: 30 })).catch(() => undefined);
  for (const object of manifests({ image: next })) {
    if (object.kind !== "Deployment" && object.kind !== "DaemonSet") continue;
    const body = { status: { observedGeneration: 2 } };
    const patch = { type: "merge", body } as const;
    await client.patch(resourceOf(object), placeOf(object), patch, { subresource: "status" });
  }
  await expect(ended(install({ client, image: next, patience: 30 }))).rejects.toMatchObject({
    message: expect.stringMatching(/^KubeVirt kubevirt is not ready after 0\.03 s; its status is /),
  });
});

test("waits for a definition of an earlier installation that is being deleted, and names it if it stays", async () => {
  const client = new InProcessApiServer().client("test");
  const crd = all.find(({ kind }) => kind === "CustomResourceDefinition") as KubeObject;
  const [resource, place] = [resourceOf(crd), placeOf(crd)];
  const metadata = { ...crd.metadata, finalizers: ["example.com/hold"] };
  await client.create(resource, { ...crd, metadata });
  await client.delete(resource, place);
  const lines = install({ client, image, patience: 30 });
  expect((await lines.next()).value).toMatch(/^waiting until CustomResourceDefinition /);
  await expect(lines.next()).rejects.toMatchObject({
    code: "OPERATOR_NOT_READY",
    message: expect.stringContaining("of an earlier installation is still being deleted"),
  });
  const patch = { type: "merge", body: { metadata: { finalizers: null } } } as const;
  await client.patch(resource, place, patch);
  expect((await install({ client, image }).next()).value).toMatch(/^applying /);
});
