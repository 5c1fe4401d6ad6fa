import { KubeConfig } from "@kubernetes/client-node";
import { clusterConfig } from "@virtkit/api/config";
import { decodeGrant, grantAnnotation } from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import { at } from "@virtkit/api/shape";
import { type Condition, conditionsOf, findCondition } from "@virtkit/api/status";
import type { HttpClient, KubeObject } from "@virtkit/kube";
import { kubeconfigClient } from "@virtkit/kube/kubeconfig";
import { attachCluster, createNamespace, testImages } from "@virtkit/lab/cluster";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { podResource, vmiResource } from "../plan/resources.ts";
import { installCrds } from "../testing/real-cluster.ts";
import { createControllers } from "./create-controllers.ts";
import { admittedVmi } from "./testing/admit-vmi.ts";

const cluster = attachCluster();
const node = "node-1";
const vmis = vmiResource(names());
const { nodeLabels, annotations, own } = names();
let client: HttpClient;

beforeAll(async () => {
  const config = new KubeConfig();
  config.loadFromFile(cluster.kubeconfig);
  client = kubeconfigClient(config);
  await installCrds(client);
  // What a node agent writes about its node.
  const labels = [`${nodeLabels.schedulable}=true`, `${nodeLabels.machineType}q35=true`];
  await cluster.kubectl(["label", "node", node, "--overwrite", ...labels]);
  const beat = `${annotations.heartbeat}=${new Date().toISOString()}`;
  await cluster.kubectl(["annotate", "node", node, "--overwrite", beat]);
});
afterAll(() => client.close());

/** Runs the controllers for one test. */
function controllers(image: string): void {
  const stop = new AbortController();
  const config = {
    cluster: clusterConfig({ developerConfiguration: { useEmulation: true } }),
    profile: virtkitLauncherProfile({ image }),
  };
  const running = createControllers({ client, config: () => config }).run({ signal: stop.signal });
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
}

/** A VMI without a network, so that the node needs no device. */
async function createVmi(namespace: string, name: string, spec: object = {}): Promise<void> {
  const domain = {
    devices: { autoattachPodInterface: false },
    memory: { guest: "64Mi" },
  };
  const vmi = admittedVmi(name, { namespace, spec: { domain, ...spec } });
  await client.create(vmis, vmi);
}

const readVmi = (namespace: string, name: string): Promise<KubeObject> =>
  client.get(vmis, { namespace, name });
const conditionOf = async (
  namespace: string,
  name: string,
  type: string,
): Promise<Condition | undefined> =>
  findCondition(conditionsOf((await readVmi(namespace, name)) as object), type);

/** The number of VMIs and Pods. */
async function left(namespace: string): Promise<readonly number[]> {
  const lists = [client.list(vmis, { namespace }), client.list(podResource, { namespace })];
  return (await Promise.all(lists)).map(({ items }) => items.length);
}

async function removeAll(namespace: string): Promise<void> {
  for (const { metadata } of (await client.list(vmis, { namespace })).items) {
    await client.delete(vmis, { namespace, name: metadata.name ?? "" });
  }
  await expect.poll(() => left(namespace)).toEqual([0, 0]);
}

test("a launcher Pod on a real kubelet takes its VMI to Scheduled with a grant, and deleting the VMI removes both", async () => {
  await using namespace = await createNamespace(cluster);
  controllers(testImages.launcher);
  // Other files of this tier may have left the other node schedulable, too.
  await createVmi(namespace.name, "vm", { nodeSelector: { "kubernetes.io/hostname": node } });
  const phase = async () => at(await readVmi(namespace.name, "vm"), "status", "phase");
  await expect.poll(phase).toBe("Scheduled");
  const vmi = await readVmi(namespace.name, "vm");
  const [pod] = (await client.list(podResource, { namespace: namespace.name })).items;
  expect(at(vmi, "status", "nodeName")).toBe(node);
  const grant = decodeGrant(
    vmi.metadata.annotations?.[own(grantAnnotation)],
    vmi.metadata.uid ?? "",
  );
  expect(grant).toMatchObject({ state: "Granted", podUID: pod?.metadata.uid });
  await expect
    .poll(async () => {
      const [now] = (await client.list(podResource, { namespace: namespace.name })).items;
      return findCondition(conditionsOf(now as object), "Ready")?.status;
    })
    .toBe("True");
  await removeAll(namespace.name);
});

test("the VMI shows that an image cannot be pulled, or that no node takes its Pod", async () => {
  await using namespace = await createNamespace(cluster);
  controllers("localhost/virtkit/nobody-has-it:1");
  await createVmi(namespace.name, "imageless");
  await createVmi(namespace.name, "homeless", { nodeSelector: { "example.com/nowhere": "true" } });
  await expect
    .poll(() => conditionOf(namespace.name, "imageless", "Synchronized"))
    .toMatchObject({
      status: "False",
      reason: expect.stringMatching(/^(ErrImagePull|ImagePullBackOff)$/),
    });
  await expect
    .poll(() => conditionOf(namespace.name, "homeless", "PodScheduled"))
    .toMatchObject({ status: "False", reason: "Unschedulable" });
  await removeAll(namespace.name);
});

test("a VMI whose Pod a quota forbids says so, and is scheduled once there is room", async () => {
  await using namespace = await createNamespace(cluster);
  const inNamespace = ["-n", namespace.name];
  await cluster.kubectl(["create", "quota", "none", "--hard=pods=0", ...inNamespace]);
  // It is enforced once its controller has counted.
  const counted = ["get", "quota", "none", ...inNamespace, "-o", "jsonpath={.status.used.pods}"];
  await expect.poll(() => cluster.kubectl(counted)).toBe("0");
  controllers(testImages.launcher);
  await createVmi(namespace.name, "vm", { nodeSelector: { "kubernetes.io/hostname": node } });
  await expect
    .poll(() => conditionOf(namespace.name, "vm", "Synchronized"))
    .toMatchObject({
      ...{ status: "False", reason: "FailedCreate" },
      message: expect.stringContaining("exceeded quota"),
    });
  expect(await left(namespace.name)).toEqual([1, 0]);
  await cluster.kubectl(["delete", "quota", "none", ...inNamespace]);
  const phase = async () => at(await readVmi(namespace.name, "vm"), "status", "phase");
  await expect.poll(phase).toBe("Scheduled");
  await removeAll(namespace.name);
});
