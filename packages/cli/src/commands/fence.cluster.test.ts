import { names } from "@virtkit/api/names";
import { defineResource, type HttpClient } from "@virtkit/kube";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clusterWithKinds, kubeconfig } from "../testing/cluster-with-kinds.ts";
import { runVirtkit } from "../testing/run-virtkit.ts";

const bootID = "6f6d8c1e-27c5-4a3e-9a53-0d9fb7d1b0a2";
const node = "fenced-node";
const [version, group] = ["v1", names().groups.core];
const vmis = defineResource({
  ...{ group, version, plural: "virtualmachineinstances", kind: "VirtualMachineInstance" },
});
const vms = defineResource({ group, version, plural: "virtualmachines", kind: "VirtualMachine" });
const cluster = { version, namespaced: false };
const nodes = defineResource({ ...cluster, plural: "nodes", kind: "Node" });
let client: HttpClient;

beforeAll(async () => {
  client = await clusterWithKinds([vmis, vms]);
  await client.create(nodes, { metadata: { name: node } });
}, 60_000);

afterAll(async () => {
  await client.delete(nodes, { name: node });
  client.close();
});

async function report(ready: string): Promise<void> {
  const nodeInfo = {
    ...{ machineID: "m1", bootID, systemUUID: "s", kernelVersion: "6", osImage: "os" },
    ...{ containerRuntimeVersion: "c", kubeletVersion: "v1", kubeProxyVersion: "v1" },
    ...{ operatingSystem: "linux", architecture: "amd64" },
  };
  const conditions = [{ type: "Ready", status: ready }];
  const body = { status: { nodeInfo, conditions } };
  await client.patch(nodes, { name: node }, { type: "merge", body }, { subresource: "status" });
}

const fence = (...args: readonly string[]) =>
  runVirtkit(["fence", ...args, "--kubeconfig", kubeconfig]);
const taintsNow = async (): Promise<unknown> =>
  Object(await client.get(nodes, { name: node })).spec?.taints;

test("an API server accepts the mark for the boot of a node that is not Ready, and its removal", async () => {
  await report("True");
  const alive = await fence("confirm", node, "--boot-id", bootID);
  expect([alive.code, alive.err]).toEqual([1, expect.stringContaining("is Ready")]);
  await report("Unknown");
  const look = await fence("confirm", node);
  expect([look.code, look.err]).toEqual([1, ""]);
  expect(look.out).toContain(`--boot-id ${bootID}\n`);
  const before = await taintsNow();
  expect(JSON.stringify(before ?? [])).not.toContain("out-of-service");
  const done = await fence("confirm", node, "--boot-id", bootID);
  expect([done.code, done.out]).toEqual([0, ""]);
  const [key, value] = ["node.kubernetes.io/out-of-service", `boot-${bootID}`];
  expect(await taintsNow()).toContainEqual(
    expect.objectContaining({ key, value, effect: "NoExecute" }),
  );
  expect((await fence("lift", node)).code).toBe(0);
  expect(await taintsNow()).toEqual(before);
});

test("says which node and which cluster it could not find", async () => {
  const { code, err } = await fence("confirm", "nobody");
  expect([code, err]).toEqual([1, expect.stringContaining("node nobody does not exist")]);
  expect((await fence("lift", node, "--context", "mars")).err).toContain('no context "mars"');
});
