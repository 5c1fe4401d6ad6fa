import { decodeGrant, grantAnnotation, type ReadGrant } from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import { attachCluster, type ClusterNamespace, createNamespace } from "@virtkit/lab/cluster";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runningGuests, type WatchedCopies, watchCopies } from "./testing/copies.ts";
import { nothingIsLeft, running, runningAgain } from "./testing/expectations.ts";
import { fieldAt } from "./testing/field-at.ts";
import { type Guests, guestsIn, reach, vmOf } from "./testing/guests.ts";
import {
  patience,
  type SharedOperator,
  sharedOperator,
  tellingWhy,
} from "./testing/installed-operator.ts";
import { killLeadingController, leadingController, signalled } from "./testing/node-components.ts";
import { nodeTraces } from "./testing/node-traces.ts";

const cluster = attachCluster();
let operator: SharedOperator;
let namespace: ClusterNamespace;
let guests: Guests;
let copies: WatchedCopies;
let before: string[];

beforeAll(async () => {
  operator = await sharedOperator(cluster);
  before = await nodeTraces(cluster);
  namespace = await createNamespace(cluster);
  guests = guestsIn(cluster, namespace.name);
  copies = watchCopies(namespace.name);
});

afterAll(async () => {
  await copies?.[Symbol.asyncDispose]();
  await namespace?.[Symbol.asyncDispose]();
  operator?.close();
});

const controlPlane = "control-plane";

/** Sends SIGKILL to a component on all nodes. */
async function kill(component: string): Promise<void> {
  const killed = await Promise.all(
    cluster.nodes.map((node) => signalled(cluster, node, component, "KILL")),
  );
  expect(
    killed.reduce((sum, each) => sum + each, 0),
    `${component} was killed`,
  ).toBeGreaterThan(0);
}

/** Ends the active replica: the other one takes over the lease. */
async function killLeader(): Promise<void> {
  const held = await killLeadingController(cluster);
  await expect.poll(() => leadingController(cluster), patience).not.toBe(held);
}

async function restartApiServer(address: string): Promise<void> {
  await cluster.stopProgram(controlPlane, "kube-apiserver");
  await expect(cluster.request("/readyz")).rejects.toThrow();
  // The API server does not answer, and the guest keeps running.
  expect(await reach(address)).toMatch(/^boot_id=/);
  await cluster.startProgram(controlPlane, "kube-apiserver");
}

async function restartOnNodes(...programs: readonly string[]): Promise<void> {
  const restart = async (node: string): Promise<void> => {
    for (const program of programs) await cluster.stopProgram(node, program);
    for (const program of programs) await cluster.startProgram(node, program);
  };
  await Promise.all(cluster.nodes.map(restart));
}

/** A short-lived VM; its guest is ended without being asked to shut down. */
const loadVm = (number: number): object =>
  vmOf(`load-${number}`, { spec: { terminationGracePeriodSeconds: 0 } });

const faults: Readonly<Record<string, (address: string) => Promise<void>>> = {
  "every virt-api is killed": () => kill("virt-api"),
  "the active virt-controller is killed": killLeader,
  "every virt-handler is killed": () => kill("virt-handler"),
  "the API server is restarted": restartApiServer,
  "every kubelet and containerd is killed": () => restartOnNodes("kubelet", "containerd"),
};

const phaseOf = (number: number): Promise<string> =>
  guests.field(`vmi/load-${number}`, ".status.phase");

async function guestRuns(number: number): Promise<void> {
  await expect.poll(() => phaseOf(number), patience).toBe("Running");
}

test.each(Object.entries(faults))(
  "%s while one VM starts and another one ends: both succeed, and a third keeps running",
  async (name, strike) => {
    await tellingWhy(cluster, async () => {
      const number = Object.keys(faults).indexOf(name);
      if (number === 0) await guests.apply(vmOf("steady"), loadVm(0));
      const steady = await running(guests, "steady");
      await guestRuns(number);
      const boot = await reach(steady);

      await guests.kubectl("delete", "vm", `load-${number}`, "--wait=false");
      await guests.apply(loadVm(number + 1));
      // It is starting: its VMI exists, and its guest does not yet.
      await expect.poll(() => phaseOf(number + 1), patience).not.toBe("");
      await strike(steady);
      await guestRuns(number + 1);
      await expect
        .poll(async () => (await guests.objects("vm", "vmi", "pod")).join(" "), patience)
        .not.toContain(`load-${number}`);
      expect(await reach(steady)).toBe(boot);
      expect(runningGuests(namespace.name)).toEqual([`load-${number + 1}`, "steady"]);
    });
  },
);

test("afterwards nothing is left of those VMs, and no guest ever ran twice", async () => {
  await tellingWhy(cluster, () => nothingIsLeft(cluster, guests, before));
  expect(copies.most).toBe(1);
});

/** Who may run the guest of a VMI, according to the API server. */
async function grantOf(name: string): Promise<ReadGrant> {
  const vmi = JSON.parse(await guests.kubectl("get", "vmi", name, "-o", "json"));
  return decodeGrant(vmi.metadata.annotations[names().own(grantAnnotation)], vmi.metadata.uid);
}

/** Cuts the power of a node, and waits until Kubernetes notices. */
async function loseNode(node: string): Promise<void> {
  await cluster.killNode(node);
  const taints = async (): Promise<string> =>
    fieldAt((await cluster.request(`/api/v1/nodes/${node}`)).body, ".spec.taints[*].key");
  await expect.poll(taints, patience).toContain("node.kubernetes.io/unreachable");
}

const outOfService = "node.kubernetes.io/out-of-service";

test("after a power loss, a guest starts nowhere until its node is back, whatever is deleted, and then runs once", async () => {
  await tellingWhy(cluster, async () => {
    await guests.apply(vmOf("lost", { node: "node-2" }));
    const boot = await reach(await running(guests, "lost"));
    const uid = await guests.field("vmi/lost", ".metadata.uid");
    const granted = await grantOf("lost");
    expect(granted).toMatchObject({ state: "Claimed", holder: { node: "node-2" } });
    // Nothing prevents the next one from starting on another node.
    const anywhere = [{ op: "remove", path: "/spec/template/spec/nodeSelector" }];
    await guests.kubectl("patch", "vm", "lost", "--type=json", "-p", JSON.stringify(anywhere));

    await loseNode("node-2");
    // The API shows a running guest. A user who knows better force-deletes its Pod, and nothing follows from that.
    expect(await guests.field("vmi/lost", ".status.phase")).toBe("Running");
    await guests.kubectl("delete", "pod", "--all", "--force", "--grace-period=0", "--wait=false");
    const pods = (): Promise<string> =>
      guests.kubectl("get", "pod", "-o", "jsonpath={.items[*].metadata.deletionTimestamp}");
    await expect.poll(pods, patience).not.toBe("");
    expect(await grantOf("lost")).toEqual(granted);
    expect(runningGuests(namespace.name)).toEqual([]);

    // Another boot of the same host proves that the guest has ended.
    await cluster.startNode("node-2");
    expect(await reach(await runningAgain(guests, "lost", uid))).not.toBe(boot);
  });
  expect(copies.most).toBe(1);
});

test("after a permanent node loss, a guest starts elsewhere once a person confirms that the node is off", async () => {
  await tellingWhy(cluster, async () => {
    const node = await guests.field("vmi/lost", ".status.nodeName");
    const uid = await guests.field("vmi/lost", ".metadata.uid");
    await loseNode(node);
    expect(await grantOf("lost")).toMatchObject({ state: "Claimed", holder: { node } });
    expect(runningGuests(namespace.name)).toEqual([]);
    try {
      await cluster.kubectl(["taint", "node", node, `${outOfService}=nodeshutdown:NoExecute`]);
      await runningAgain(guests, "lost", uid);
      expect(await guests.field("vmi/lost", ".status.nodeName")).not.toBe(node);
    } finally {
      await cluster.kubectl(["taint", "node", node, `${outOfService}-`]);
      await cluster.startNode(node);
    }
    // The node does not know it either once it is repaired.
    expect(runningGuests(namespace.name)).toEqual(["lost"]);
    await nothingIsLeft(cluster, guests, before);
  });
  expect(copies.most).toBe(1);
});
