import { defineResource, type KubeObject } from "@virtkit/kube";
import { InProcessApiServer } from "@virtkit/testing/api-server";
import { expect, test } from "vitest";
import { podComplaints } from "./pod-complaints.ts";
import { resourceOf } from "./resource-of.ts";

const pods = defineResource({ version: "v1", plural: "pods", kind: "Pod" });
const place = { namespace: "kubevirt", labelSelector: "kubevirt.io=virt-api" };

/** What the Pods of one component are said to wait for, given the status of each. */
async function complaintsOf(...statuses: readonly object[]): Promise<readonly string[]> {
  const client = new InProcessApiServer().client("test");
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "kubevirt" } };
  await client.create(resourceOf(namespace), namespace);
  for (const [index, status] of statuses.entries()) {
    const metadata = {
      ...{ namespace: "kubevirt", name: `virt-api-${index}` },
      labels: { "kubevirt.io": "virt-api" },
    };
    const spec = { containers: [{ name: "virt-api", image: "image" }] };
    await client.create(pods, { metadata, spec } as unknown as KubeObject);
    const { name } = metadata;
    const patch = { type: "merge", body: { status } } as const;
    const at = { namespace: "kubevirt", name };
    await client.patch(pods, at, patch, { subresource: "status" });
  }
  return await podComplaints(client, place);
}

const waiting = (reason: string, message?: string, exitCode?: number): object => ({
  containerStatuses: [
    {
      ...{ name: "virt-api", ready: false, restartCount: 0, image: "image", imageID: "" },
      state: { waiting: { reason, ...(message && { message }) } },
      ...(exitCode && { lastState: { terminated: { exitCode } } }),
    },
  ],
});

test("an image that cannot be pulled and a program that ends are named", async () => {
  expect(
    await complaintsOf(
      waiting("ImagePullBackOff", 'Back-off pulling image "registry.example/virtkit:1"'),
      waiting("CrashLoopBackOff", "back-off 10s restarting", 1),
    ),
  ).toEqual([
    'Pod virt-api-0: container virt-api: ImagePullBackOff: Back-off pulling image "registry.example/virtkit:1"',
    "Pod virt-api-1: container virt-api: CrashLoopBackOff: back-off 10s restarting, last exit code 1",
  ]);
});

test("a Pod without a node says why", async () => {
  const message = "0/2 nodes are available: 2 Insufficient memory.";
  const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
  expect(await complaintsOf({ conditions: [condition] })).toEqual([
    `Pod virt-api-0: Unschedulable: ${message}`,
  ]);
});

test("Pods that start or run have nothing to say, and of many only three are named", async () => {
  expect(await complaintsOf(waiting("ContainerCreating"), { phase: "Running" })).toEqual([]);
  const five = Array.from({ length: 5 }, () => waiting("ErrImagePull"));
  expect(await complaintsOf(...five)).toHaveLength(3);
});
