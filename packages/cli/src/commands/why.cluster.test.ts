import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { crds } from "@virtkit/api/crd";
import { names } from "@virtkit/api/names";
import { defineResource, type HttpClient, type KubeObject } from "@virtkit/kube";
import { kubeconfigClient } from "@virtkit/kube/kubeconfig";
import { applyObject } from "@virtkit/kube/writes";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runVirtkit } from "../testing/run-virtkit.ts";

const namespace = "why";
const kubeconfig = process.env["VIRTKIT_APISERVER_KUBECONFIG"] ?? "";
const { groups, labels } = names();
const [version, group] = ["v1", groups.core];
const vmis = defineResource({
  ...{ group, version, plural: "virtualmachineinstances", kind: "VirtualMachineInstance" },
});
const vms = defineResource({ group, version, plural: "virtualmachines", kind: "VirtualMachine" });
const pods = defineResource({ version, plural: "pods", kind: "Pod" });
const cluster = { version, namespaced: false };
const namespaces = defineResource({ ...cluster, plural: "namespaces", kind: "Namespace" });
const definitions = defineResource({
  ...{ ...cluster, group: "apiextensions.k8s.io" },
  ...{ plural: "customresourcedefinitions", kind: "CustomResourceDefinition" },
});
let client: HttpClient;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "virtkit-why-"));
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  client = kubeconfigClient(config);
  const kinds = [vmis.kind, vms.kind];
  for (const crd of crds().filter(({ spec }) => kinds.includes(spec.names.kind))) {
    const object = crd as unknown as KubeObject;
    await applyObject(client, definitions, object, { fieldManager: "test", force: true });
  }
  for (const resource of [vmis, vms]) {
    await vi.waitFor(() => client.list(resource), { timeout: 30_000, interval: 200 });
  }
  await client.create(namespaces, { metadata: { name: namespace } });
}, 60_000);

afterAll(async () => {
  client.close();
  await rm(folder, { recursive: true });
});

/** A VMI whose Pod no node takes, as its controller leaves them. */
async function homelessVmi(name: string): Promise<void> {
  const spec = { domain: { devices: {} } };
  const status = { phase: "Scheduling" };
  const vmi = { metadata: { namespace, name }, spec, status } as KubeObject;
  const { metadata } = await client.create(vmis, vmi);
  const pod = { namespace, name: `virt-launcher-${name}` };
  const owned = { [labels.createdBy]: String(metadata.uid) };
  const containers = [{ name: "compute", image: "launcher:1" }];
  await client.create(pods, {
    metadata: { ...pod, labels: owned },
    spec: { containers },
  } as KubeObject);
  const message = "0/3 nodes are available: 3 Insufficient memory.";
  const scheduled = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
  const body = { status: { conditions: [scheduled] } };
  await client.patch(pods, pod, { type: "merge", body }, { subresource: "status" });
}

const why = (name: string, ...args: string[]) =>
  runVirtkit(["why", name, "-n", namespace, "--kubeconfig", kubeconfig, ...args]);

test("a VMI of a live cluster says what it waits for, and why", async () => {
  await homelessVmi("web");
  const { code, out, err } = await why("web");
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^why\/web: waits for "scheduled" .*: no node takes the Pod.*memory/);
  const { out: json } = await why("web", "-o", "json");
  expect(JSON.parse(json)).toMatchObject({ name: "web", open: { stage: "scheduled" } });
});

test("a VM of a live cluster says why it has no VMI", async () => {
  const template = { metadata: {}, spec: { domain: { devices: {} } } };
  const vm = { metadata: { namespace, name: "off" }, spec: { runStrategy: "Halted", template } };
  await client.create(vms, vm as KubeObject);
  const { code, out } = await why("off");
  expect(code).toBe(0);
  expect(out).toMatch(/^VM why\/off: /);
});

test("nothing of that name, a context that is not there, and a cluster that does not answer are told apart", async () => {
  const none = await why("nobody");
  expect([none.code, none.out]).toEqual([1, ""]);
  expect(none.err).toContain("no VM or VMI nobody in namespace why");
  const context = await why("web", "--context", "mars");
  expect([context.code, context.out]).toEqual([1, ""]);
  expect(context.err).toContain('no context "mars"; it has ');
  const text = await readFile(kubeconfig, "utf8");
  const changed = async (file: string, edit: (text: string) => string) => {
    await writeFile(join(folder, file), edit(text));
    return await runVirtkit(["why", "web", "-n", namespace, "--kubeconfig", join(folder, file)]);
  };
  const away = await changed("away.json", (all) => all.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1"));
  expect([away.code, away.out]).toEqual([1, ""]);
  expect(away.err).toContain("cannot be read");
  const stranger = await changed("stranger.json", (all) => {
    const parsed = JSON.parse(all);
    parsed.users[0].user.token = "stranger";
    return JSON.stringify(parsed);
  });
  expect([stranger.code, stranger.out]).toEqual([1, ""]);
  expect(stranger.err).toMatch(/virtualmachineinstances cannot be read.*(401|Unauthorized)/);
});
