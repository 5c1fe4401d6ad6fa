import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { KubeConfig } from "@kubernetes/client-node";
import { crds } from "@virtkit/api/crd";
import { defineResource, type HttpClient, type KubeObject } from "@virtkit/kube";
import { leases } from "@virtkit/kube/election";
import { kubeconfigClient } from "@virtkit/kube/kubeconfig";
import { applyObject, patchObject } from "@virtkit/kube/writes";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { annotation, servicePerVmi, services, vmis } from "./service-per-vmi.mjs";

const namespace = "custom-controller";
const crdResource = defineResource({
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
});
const namespaces = defineResource({
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
});
const stop = new AbortController();
const errors: unknown[] = [];
let client: HttpClient;
let running: Promise<void>;

beforeAll(async () => {
  const config = new KubeConfig();
  config.loadFromFile(process.env["VIRTKIT_APISERVER_KUBECONFIG"] ?? "");
  client = kubeconfigClient(config);
  await client.create(namespaces, { metadata: { name: namespace } });
  const [definition] = crds().filter(({ spec }) => spec.names.kind === vmis.kind);
  const crd = definition as unknown as KubeObject;
  await applyObject(client, crdResource, crd, { fieldManager: "test", force: true });
  // It is established at once, and served a moment later.
  await vi.waitFor(() => client.list(vmis), { timeout: 30_000, interval: 200 });
  const log = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (details: unknown) => errors.push(details),
  };
  running = servicePerVmi(client, { log }).run({ signal: stop.signal });
}, 60_000);

afterAll(async () => {
  stop.abort();
  await running;
  client.close();
});

const makeVmi = async (name: string, annotations: Record<string, string>): Promise<KubeObject> => {
  const vmi = { metadata: { name, namespace, annotations }, spec: { domain: { devices: {} } } };
  return await client.create(vmis, vmi);
};

/** The ports of the Service of that name, once they are these. */
async function expectPorts(name: string, ports: readonly number[] | undefined): Promise<void> {
  const read = async (): Promise<number[] | undefined> => {
    const { items } = await client.list(services, { namespace });
    return items.find(({ metadata }) => metadata.name === name)?.spec.ports.map(({ port }) => port);
  };
  await expect.poll(read, { timeout: 20_000 }).toEqual(ports);
}

test("the Service is created, changed and deleted with the annotation of the VMI", async () => {
  let vmi = await makeVmi("one", { [annotation]: "22" });
  await expectPorts("one", [22]);
  const annotate = async (annotations: Record<string, string>): Promise<void> => {
    const after = { ...vmi, metadata: { ...vmi.metadata, annotations } };
    vmi = await patchObject(client, vmis, vmi, after);
  };
  await annotate({ [annotation]: "22,80" });
  await expectPorts("one", [22, 80]);
  await annotate({});
  await expectPorts("one", undefined);
});

test("creates a deleted Service again", async () => {
  await makeVmi("two", { [annotation]: "80" });
  await expectPorts("two", [80]);
  const { metadata } = await client.get(services, { namespace, name: "two" });
  await client.delete(services, { namespace, name: "two" });
  const uid = async (): Promise<string | undefined> => {
    const { items } = await client.list(services, { namespace });
    return items.find(({ metadata: { name } }) => name === "two")?.metadata.uid;
  };
  await expect.poll(uid, { timeout: 20_000 }).not.toBe(metadata.uid);
  await expectPorts("two", [80]);
});

test("leaves a foreign Service alone, and reports an invalid annotation once", async () => {
  const ports = [{ name: "x", port: 1_234 }];
  const others = { metadata: { name: "three", namespace }, spec: { selector: {}, ports } };
  await client.create(services, others);
  await makeVmi("three", { [annotation]: "22" });
  await makeVmi("four", { [annotation]: "ssh" });
  await expect.poll(() => errors.length, { timeout: 20_000 }).toBe(2);
  expect(errors).toMatchObject([
    { key: `${namespace}/three`, error: expect.stringContaining("does not belong to this VMI") },
    {
      key: `${namespace}/four`,
      error: expect.stringContaining('is "ssh"; it must be a list of ports'),
    },
  ]);
  await expectPorts("three", [1_234]);
  await expectPorts("four", undefined);
});

test("the program leads, and releases its lease when it is asked to end", async () => {
  const main = fileURLToPath(new URL("main.mjs", import.meta.url));
  const env = { ...process.env, KUBECONFIG: process.env["VIRTKIT_APISERVER_KUBECONFIG"] };
  const child = spawn(process.execPath, [main], { env, stdio: ["ignore", "inherit", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const holder = async (): Promise<string | undefined> => {
    const { items } = await client.list(leases, { namespace: "default" });
    return items.find(({ metadata }) => metadata.name === "service-per-vmi")?.spec?.holderIdentity;
  };
  await expect.poll(holder, { timeout: 30_000 }).toBeTruthy();
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(await holder()).toBe("");
});
