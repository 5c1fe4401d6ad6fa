import { attachCluster, createNamespace } from "@virtkit/lab/cluster";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runningGuests, watchCopies } from "./testing/copies.ts";
import { nothingIsLeft, running, runningAgain } from "./testing/expectations.ts";
import { guestsIn, reach, vmOf } from "./testing/guests.ts";
import {
  type InstalledOperator,
  installOperator,
  patience,
  tellingWhy,
} from "./testing/installed-operator.ts";
import { nodeTraces } from "./testing/node-traces.ts";

const cluster = attachCluster();
let operator: InstalledOperator;
let before: string[];

beforeAll(async () => {
  operator = await installOperator(cluster);
  before = await nodeTraces(cluster);
});

afterAll(async () => {
  await cluster.startProgram("control-plane", "kube-apiserver");
  for (const node of cluster.nodes) await cluster.startNode(node);
  await operator[Symbol.asyncDispose]();
});

/** Kills all processes of a component, on all nodes. */
async function killComponent(name: string): Promise<void> {
  for (const node of cluster.nodes) {
    await cluster.runOnNode(node, "sh", ["-c", `pkill -KILL -f '^node .*/${name}.mjs' || true`]);
  }
}

const componentsAreReady = async (): Promise<void> => {
  for (const name of [
    "deployment/virt-api",
    "deployment/virt-controller",
    "daemonset/virt-handler",
  ]) {
    await cluster.kubectl(["rollout", "status", "-n", "kubevirt", name, "--timeout=90s"], {
      timeout: 100_000,
    });
  }
};

test("VMs start, run on and end while each component, the API server, a kubelet and containerd are killed", async () => {
  await using namespace = await createNamespace(cluster);
  const guests = guestsIn(cluster, namespace.name);
  await using copies = watchCopies(namespace.name);
  await tellingWhy(cluster, async () => {
    // While they start.
    await guests.apply(vmOf("one", { node: "node-1" }), vmOf("two", { node: "node-2" }));
    for (const name of ["virt-controller", "virt-handler", "virt-api"]) {
      await expect.poll(() => guests.kubectl("get", "pod", "-o", "name"), patience).not.toBe("");
      await killComponent(name);
    }
    const addresses = [await running(guests, "one"), await running(guests, "two")];
    const boots = await Promise.all(addresses.map((address) => reach(address)));

    // While they run: a guest notices nothing.
    await killComponent("virt-handler");
    for (const program of ["kubelet", "containerd"]) {
      await cluster.stopProgram("node-2", program);
      await cluster.startProgram("node-2", program);
    }
    await cluster.stopProgram("control-plane", "kube-apiserver");
    await cluster.startProgram("control-plane", "kube-apiserver");
    const isBack = async (): Promise<number> =>
      await cluster.request("/readyz").then(
        ({ status }) => status,
        () => 0,
      );
    await expect.poll(isBack, patience).toBe(200);
    await componentsAreReady();
    expect(await Promise.all(addresses.map((address) => reach(address)))).toEqual(boots);
    expect(runningGuests(namespace.name)).toEqual(["one", "two"]);

    // While they end: the replica that works is killed, and the other one takes over.
    const lease = async (): Promise<string> =>
      await cluster.kubectl([
        ...["get", "lease", "-n", "kubevirt", "virt-controller"],
        ...["-o", "jsonpath={.spec.holderIdentity}"],
      ]);
    const leader = await lease();
    const pod = leader.split("_")[0] ?? "";
    await guests.kubectl("delete", "vm", "--all", "--wait=false");
    await cluster.kubectl(["delete", "pod", "-n", "kubevirt", pod, "--grace-period=0", "--force"]);
    await nothingIsLeft(cluster, guests, before);
    expect(await lease()).not.toBe(leader);
    await componentsAreReady();
  });
  expect(copies.most).toBe(1);
});

test("a VM whose node is lost starts elsewhere only once the node is fenced, and after a reboot by itself", async () => {
  await using namespace = await createNamespace(cluster);
  const guests = guestsIn(cluster, namespace.name);
  await using copies = watchCopies(namespace.name);
  const ready = async (node: string): Promise<string> =>
    await cluster.kubectl([
      ...["get", "node", node, "-o"],
      'jsonpath={.status.conditions[?(@.type=="Ready")].status}',
    ]);
  const taint = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute";
  await tellingWhy(cluster, async () => {
    await guests.apply(vmOf("lost"));
    await running(guests, "lost");
    const first = await guests.field("vmi/lost", ".status.nodeName");
    const other = cluster.nodes.find((node) => node !== first) ?? "";
    let uid = await guests.field("vmi/lost", ".metadata.uid");
    await cluster.killNode(first);
    await expect.poll(() => ready(first), patience).toBe("Unknown");
    // The API still says that it runs, and nobody can know better: it is not started anywhere.
    expect(await guests.field("vmi/lost", ".status.phase")).toBe("Running");
    expect(runningGuests(namespace.name)).toEqual([]);
    // Somebody who has seen to it that the node is off says so.
    await cluster.kubectl(["taint", "node", first, taint]);
    await runningAgain(guests, "lost", uid);
    expect(await guests.field("vmi/lost", ".status.nodeName")).toBe(other);
    await cluster.startNode(first);
    await cluster.kubectl(["taint", "node", first, `${taint}-`]);

    // A node that comes back by itself: its new boot proves that the guest has ended.
    uid = await guests.field("vmi/lost", ".metadata.uid");
    await cluster.killNode(other);
    await cluster.startNode(other);
    await runningAgain(guests, "lost", uid);
    await nothingIsLeft(cluster, guests, before);
  });
  expect(copies.most).toBe(1);
});
