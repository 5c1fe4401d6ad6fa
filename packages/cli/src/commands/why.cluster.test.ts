import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeGrant, grantAnnotation } from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import { defineResource, type HttpClient, type KubeObject } from "@virtkit/kube";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clusterWithKinds, kubeconfig } from "../testing/cluster-with-kinds.ts";
import { runVirtkit } from "../testing/run-virtkit.ts";

const namespace = "why";
const { groups, labels } = names();
const [version, group] = ["v1", groups.core];
const vmis = defineResource({
  ...{ group, version, plural: "virtualmachineinstances", kind: "VirtualMachineInstance" },
});
const vms = defineResource({ group, version, plural: "virtualmachines", kind: "VirtualMachine" });
const pods = defineResource({ version, plural: "pods", kind: "Pod" });
const cluster = { version, namespaced: false };
const nodes = defineResource({ ...cluster, plural: "nodes", kind: "Node" });
const namespaces = defineResource({ ...cluster, plural: "namespaces", kind: "Namespace" });
let client: HttpClient;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "virtkit-why-"));
  client = await clusterWithKinds([vmis, vms]);
  await client.create(namespaces, { metadata: { name: namespace } });
}, 60_000);

afterAll(async () => {
  client.close();
  await rm(folder, { recursive: true });
});

/** A VMI whose Pod no node accepts, as its controller leaves them. */
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
  expect(out).toMatch(/^why\/web: waits for "scheduled" .*: no node accepts the Pod.*memory/);
  const { out: json } = await why("web", "-o", "json");
  expect(JSON.parse(json)).toMatchObject({ name: "web", open: { stage: "scheduled" } });
});

test("a VMI whose Pod was removed from a lost node names the command that confirms that the node is off", async () => {
  const node = "lost-node";
  const metadata = { namespace, name: "lost" };
  const spec = { domain: { devices: {} } };
  const made = await client.create(vmis, { metadata, spec, status: {} } as KubeObject);
  const vmiUID = String(made.metadata.uid);
  const ids = { podUID: "p", containerID: "c", machineID: "m", bootID: "b", nonce: "n" };
  const grant = { state: "Claimed", vmiUID, epoch: 1, seq: 2, holder: { ...ids, node } } as const;
  const annotations = { [names().own(grantAnnotation)]: encodeGrant(grant) };
  await client.patch(vmis, metadata, { type: "merge", body: { metadata: { annotations } } });
  await client.create(nodes, { metadata: { name: node } });
  try {
    const { code, out } = await why("lost");
    expect(code).toBe(0);
    expect(out).toContain(`run "virtkit fence confirm ${node}"`);
  } finally {
    await client.delete(nodes, { name: node });
  }
});

test("a VM of a live cluster says why it has no VMI", async () => {
  const template = { metadata: {}, spec: { domain: { devices: {} } } };
  const vm = { metadata: { namespace, name: "off" }, spec: { runStrategy: "Halted", template } };
  await client.create(vms, vm as KubeObject);
  const { code, out } = await why("off");
  expect(code).toBe(0);
  expect(out).toMatch(/^VM why\/off: /);
});

test("distinguishes a missing name, a missing context, and a cluster that does not answer", async () => {
  const none = await why("nobody");
  expect([none.code, none.out]).toEqual([1, ""]);
  expect(none.err).toContain("VM or VMI nobody does not exist in namespace why");
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
