import { execFile } from "node:child_process";
import { names as namesOf } from "@virtkit/api/names";
import { at } from "@virtkit/api/shape";
import { conditionsOf, findCondition } from "@virtkit/api/status";
import type { HttpClient, KubeObject, Resource } from "@virtkit/kube";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RealApiServer } from "../../../kube/src/testing/real-api-server.ts";
import { podResource } from "../plan/resources.ts";
import { revisionResource, vmResources } from "../plan/vm-resources.ts";
import { countedWrites } from "../testing/counted-writes.ts";
import { playNodes, preparePlatform } from "../testing/real-cluster.ts";
import { RealWebhook } from "../testing/real-webhook.ts";
import { runScriptedCollector } from "../testing/scripted-collector.ts";
import { worldConfig } from "../testing/service-world.ts";
import { createControllers } from "./create-controllers.ts";
import { endPod } from "./testing/scripted-kubelets.ts";

const names = namesOf();
const { vms, vmis, replicaSets, pools } = vmResources(names);
const kinds = [vms, vmis, replicaSets, pools, revisionResource, podResource];
const namespace = "virtual-machines";
const soon = { timeout: 45_000, interval: 100 };
const stop = new AbortController();
const writes: string[] = [];
let server: RealApiServer;
let webhook: RealWebhook;
let client: HttpClient;
let running: Promise<unknown>;

beforeAll(async () => {
  server = await RealApiServer.start();
  client = server.client();
  await preparePlatform(client, namespace);
  const { cluster } = worldConfig;
  if (!cluster) throw new Error("the tests' configuration has no cluster");
  webhook = await RealWebhook.start(client, cluster);
  const { signal } = stop;
  const controllers = createControllers({
    client: countedWrites(client, writes),
    config: () => worldConfig,
  });
  running = Promise.all([
    playNodes(client, ["node-1", "node-2"], signal),
    runScriptedCollector({ client, namespace, kinds, signal }),
    controllers.run({ signal }),
  ]);
}, 120_000);

afterAll(async () => {
  stop.abort();
  await running;
  client.close();
  await webhook[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
}, 60_000);

/** Runs kubectl in the tests' namespace, with an object on stdin. */
async function kubectl(args: readonly string[], input?: object): Promise<string> {
  const command = process.env["VIRTKIT_KUBECTL"] ?? "kubectl";
  const all = ["--kubeconfig", server.kubeconfig, "-n", namespace, "--request-timeout=30s"];
  return await new Promise((resolve, reject) => {
    const child = execFile(
      command,
      [...all, ...args],
      { timeout: 40_000 },
      (error, stdout, stderr) =>
        error ? reject(new Error(stderr || error.message)) : resolve(stdout),
    );
    child.stdin?.end(input === undefined ? "" : JSON.stringify(input));
  });
}
const apply = (object: object): Promise<string> => kubectl(["apply", "-f", "-"], object);

const template = (spec: object = {}): object => ({
  spec: {
    domain: { cpu: { sockets: 1 }, devices: {}, memory: { guest: "64Mi" } },
    ...spec,
  },
});
const vmOf = (name: string, runStrategy: string, spec: object = {}): object => ({
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachine",
  metadata: { name },
  spec: { runStrategy, template: template(spec) },
});

const read = (kind: Resource, name: string): Promise<KubeObject> =>
  client.get(kind, { namespace, name });
const statusOf = async (kind: Resource, name: string): Promise<object> =>
  Object(at(await read(kind, name), "status"));
const all = async (kind: Resource): Promise<readonly KubeObject[]> =>
  (await client.list(kind, { namespace })).items;
const restart = async (name: string) =>
  findCondition(conditionsOf(Object(await read(vms, name))), "RestartRequired");
/** The number of objects of each kind. */
const left = async (): Promise<readonly number[]> =>
  (await Promise.all(kinds.map(all))).map(({ length }) => length);

/** Lets the guest of a VMI shut itself down. */
async function endGuest(vmi: string): Promise<void> {
  const { uid } = (await read(vmis, vmi)).metadata;
  const isOf = ({ metadata }: KubeObject): boolean =>
    metadata.labels?.[names.labels.createdBy] === uid;
  const pod = (await all(podResource)).find(isOf);
  if (!pod) throw new Error(`${vmi} has no Pod`);
  await endPod(client, pod);
}

const isRunning = { printableStatus: "Running", ready: true, created: true };

test("a VM applied with kubectl runs, and runs again after its guest ends if its run strategy says so", async () => {
  await apply(vmOf("always", "Always"));
  await apply(vmOf("once", "Once"));
  await expect.poll(() => statusOf(vms, "always"), soon).toMatchObject(isRunning);
  await expect.poll(() => statusOf(vms, "once"), soon).toMatchObject(isRunning);
  expect(await kubectl(["get", "vm", "always"])).toMatch(/^always +\S+ +Running +True$/m);
  const [first, only] = [await read(vmis, "always"), await read(vmis, "once")];
  await endGuest("always");
  await endGuest("once");
  await expect
    .poll(async () => (await all(vmis)).map(({ metadata }) => metadata.uid), soon)
    .not.toContain(first.metadata.uid);
  await expect.poll(() => statusOf(vms, "always"), soon).toMatchObject(isRunning);
  await expect.poll(() => statusOf(vmis, "once"), soon).toMatchObject({ phase: "Succeeded" });
  expect((await read(vmis, "once")).metadata.uid).toBe(only.metadata.uid);
  expect((await read(vmis, "always")).metadata.uid).not.toBe(first.metadata.uid);
});

test("a live change reaches the VMI while it runs; any other names the restart that it needs", async () => {
  const { uid } = (await read(vmis, "always")).metadata;
  const nodeSelector = { zone: "b" };
  const domain = { cpu: { sockets: 2 }, devices: {}, memory: { guest: "64Mi" } };
  await apply(vmOf("always", "Always", { nodeSelector, domain }));
  await expect
    .poll(() => read(vmis, "always"), soon)
    .toMatchObject({
      metadata: { uid },
      spec: { nodeSelector, domain: { cpu: { sockets: 2 } } },
      status: { phase: "Running" },
    });
  expect(await restart("always")).toBeUndefined();
  await apply(vmOf("always", "Always", { nodeSelector, domain, hostname: "other" }));
  await expect
    .poll(() => restart("always"), soon)
    .toMatchObject({ status: "True", message: expect.stringContaining("hostname") });
  await kubectl(["delete", "vmi", "always"]);
  await expect.poll(() => restart("always"), soon).toBeUndefined();
  await expect.poll(() => statusOf(vms, "always"), soon).toMatchObject(isRunning);
  expect(await read(vmis, "always")).toMatchObject({ spec: { hostname: "other" } });
});

test("kubectl scales a replica set up and down, and the set replaces a VMI whose guest has ended", async () => {
  const labels = { app: "web" };
  const web = "virtualmachineinstancereplicaset/web";
  const scaled = (replicas: number) => ({ replicas, readyReplicas: replicas });
  const own = async (): Promise<readonly string[]> =>
    (await all(vmis))
      .filter(({ metadata }) => metadata.labels?.["app"] === "web")
      .map(({ metadata }) => metadata.name ?? "");
  await apply({
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstanceReplicaSet",
    metadata: { name: "web" },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, ...template() },
    },
  });
  await expect.poll(() => statusOf(replicaSets, "web"), soon).toMatchObject(scaled(1));
  await kubectl(["scale", web, "--replicas=4"]);
  await expect.poll(() => statusOf(replicaSets, "web"), soon).toMatchObject(scaled(4));
  const [ended = ""] = await own();
  await endGuest(ended);
  await expect.poll(own, soon).not.toContain(ended);
  await expect.poll(() => statusOf(replicaSets, "web"), soon).toMatchObject(scaled(4));
  await kubectl(["scale", web, "--replicas=2"]);
  await expect.poll(async () => (await own()).length, soon).toBe(2);
  await expect.poll(() => statusOf(replicaSets, "web"), soon).toMatchObject(scaled(2));
});

test("kubectl scales a pool up and down: its VMs are numbered, and the last is deleted first if the pool says so", async () => {
  const labels = { pool: "desks" };
  const desks = "virtualmachinepool/desks";
  const scaled = (replicas: number) => ({ replicas, readyReplicas: replicas });
  const own = async (): Promise<readonly string[]> =>
    (await all(vms))
      .filter(({ metadata }) => metadata.labels?.["pool"] === "desks")
      .map(({ metadata }) => metadata.name ?? "")
      .toSorted();
  await apply({
    apiVersion: "pool.kubevirt.io/v1beta1",
    kind: "VirtualMachinePool",
    metadata: { name: "desks" },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      scaleInStrategy: { proactive: { selectionPolicy: { sortPolicy: "DescendingOrder" } } },
      virtualMachineTemplate: {
        metadata: { labels },
        spec: { runStrategy: "Always", template: template() },
      },
    },
  });
  await expect.poll(() => statusOf(pools, "desks"), soon).toMatchObject(scaled(1));
  await kubectl(["scale", desks, "--replicas=3"]);
  await expect.poll(() => statusOf(pools, "desks"), soon).toMatchObject(scaled(3));
  expect(await own()).toEqual(["desks-0", "desks-1", "desks-2"]);
  await kubectl(["scale", desks, "--replicas=2"]);
  await expect.poll(own, soon).toEqual(["desks-0", "desks-1"]);
  await expect.poll(() => statusOf(pools, "desks"), soon).toMatchObject(scaled(2));
  expect(await kubectl(["get", "vmpool", "desks"])).toMatch(/^desks +2 +2 +2 /m);
});

test("deleting everything leaves nothing behind, and no write was refused", async () => {
  await kubectl(["delete", "vmpool,vmirs,vm", "--all", "--wait=false"]);
  await expect.poll(left, soon).toEqual(kinds.map(() => 0));
  expect(writes.length).toBeGreaterThan(50);
  // What kubectl deletes is gone at once: a write to it that is under way then finds nothing.
  const plurals = [pools, replicaSets, vms].map(({ plural }) => plural).join("|");
  const overtaken = new RegExp(`^patch (${plurals})(/status)? 404$`);
  const isRefused = (write: string) => !write.endsWith(" ok") && !overtaken.test(write);
  expect(writes.filter(isRefused)).toEqual([]);
});
