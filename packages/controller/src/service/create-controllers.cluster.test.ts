import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { names } from "@virtkit/api/names";
import { at } from "@virtkit/api/shape";
import { type Condition, conditionsOf, findCondition } from "@virtkit/api/status";
import type { HttpClient, KubeObject } from "@virtkit/kube";
import { events } from "@virtkit/kube/writes";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { RealApiServer } from "../../../kube/src/testing/real-api-server.ts";
import { podResource, vmiResource } from "../plan/resources.ts";
import { countedWrites } from "../testing/counted-writes.ts";
import { playNodes, preparePlatform } from "../testing/real-cluster.ts";
import { worldConfig } from "../testing/service-world.ts";
import type { VmiPlanConfig } from "../vmi/vmi-plan-config.ts";
import { createControllers } from "./create-controllers.ts";
import { quotaResource } from "./shared-resources.ts";
import { admittedVmi } from "./testing/admit-vmi.ts";
import { missingImage, nowhere } from "./testing/scripted-kubelets.ts";

const vmis = vmiResource(names());
const namespace = "controllers";
const soon = { timeout: 45_000, interval: 100 };
const nodes = new AbortController();
let server: RealApiServer;
let client: HttpClient;
let playing: Promise<void>;

beforeAll(async () => {
  server = await RealApiServer.start();
  client = server.client();
  await preparePlatform(client, namespace);
  playing = playNodes(client, ["node-1", "node-2"], nodes.signal);
}, 120_000);

afterAll(async () => {
  nodes.abort();
  await playing;
  client.close();
  await server[Symbol.asyncDispose]();
}, 60_000);

/** Runs the controllers in this process for one test. Returns the writes that they make. */
function controllers(config: VmiPlanConfig = worldConfig): string[] {
  const writes: string[] = [];
  const stop = new AbortController();
  const own = server.client();
  const running = createControllers({
    client: countedWrites(own, writes),
    config: () => config,
  }).run({ signal: stop.signal });
  onTestFinished(async () => {
    await removeAll();
    stop.abort();
    await running;
    own.close();
  });
  return writes;
}

async function removeAll(): Promise<void> {
  for (const { metadata } of (await client.list(vmis, { namespace })).items) {
    await client.delete(vmis, { namespace, name: metadata.name ?? "" });
  }
  await expect.poll(left, soon).toEqual([0, 0]);
}

/** The number of VMIs and Pods. */
async function left(): Promise<readonly number[]> {
  const lists = [client.list(vmis, { namespace }), client.list(podResource, { namespace })];
  return (await Promise.all(lists)).map(({ items }) => items.length);
}

const createVmi = (name: string, spec: object = {}): Promise<KubeObject> => {
  const vmi = admittedVmi(name, { namespace });
  return client.create(vmis, { ...vmi, spec: { ...Object(vmi).spec, ...spec } } as KubeObject);
};
const readVmi = (name: string): Promise<KubeObject> => client.get(vmis, { namespace, name });
const phaseOf = async (name: string): Promise<unknown> =>
  at(await readVmi(name), "status", "phase");
const conditionOf = async (name: string, type: string): Promise<Condition | undefined> =>
  findCondition(conditionsOf((await readVmi(name)) as object), type);
const phases = async (): Promise<Record<string, number>> => {
  const { items } = await client.list(vmis, { namespace });
  const all = items.map((vmi) => String(at(vmi, "status", "phase")));
  return Object.fromEntries(
    [...new Set(all)].map((phase) => [phase, all.filter((each) => each === phase).length]),
  );
};

test("a VMI gets its Pod, runs and is deleted: 7 writes and 2 events on a real API server, none refused", async () => {
  const writes = controllers();
  await createVmi("one");
  await expect.poll(async () => (await conditionOf("one", "Ready"))?.status, soon).toBe("True");
  const { metadata, ...vmi } = await readVmi("one");
  expect(vmi).toMatchObject({ status: { phase: "Running" } });
  expect(at(vmi, "status", "phaseTransitionTimestamps")).toMatchObject([
    { phase: "Pending" },
    { phase: "Scheduling" },
    { phase: "Scheduled" },
    // The scripted node agent's own.
    { phase: "Running" },
  ]);
  const fieldSelector = `involvedObject.uid=${metadata.uid}`;
  await expect
    .poll(async () => (await client.list(events, { namespace, fieldSelector })).items, soon)
    .toMatchObject([{ reason: "SuccessfulCreate", type: "Normal" }]);
  await client.delete(vmis, { namespace, name: "one" });
  await expect.poll(left, soon).toEqual([0, 0]);
  await expect.poll(() => writes.length, soon).toBeGreaterThan(8);
  expect(writes.toSorted()).toEqual([
    "create events ok",
    "create events ok",
    "create pods ok",
    "delete pods ok",
    "patch pods ok",
    "patch pods/status ok",
    "patch virtualmachineinstances ok",
    "patch virtualmachineinstances ok",
    "patch virtualmachineinstances ok",
  ]);
});

test("the VMI shows that an image cannot be pulled, or that no node takes its Pod", async () => {
  const profile = { ...worldConfig.profile, image: `${missingImage}/launcher:1` };
  controllers({ ...worldConfig, profile });
  await createVmi("imageless");
  await createVmi("homeless", { nodeSelector: { [nowhere]: "true" } });
  await expect
    .poll(() => conditionOf("imageless", "Synchronized"), soon)
    .toMatchObject({ status: "False", reason: "ErrImagePull" });
  await expect
    .poll(() => conditionOf("homeless", "PodScheduled"), soon)
    .toMatchObject({ status: "False", reason: "Unschedulable" });
  expect(await phases()).toEqual({ Scheduling: 2 });
});

test("a VMI shows that the quota is used up, and starts when there is room", async () => {
  const hard = (count: string) => ({ spec: { hard: { pods: count } } });
  const quota = { metadata: { namespace, name: "none" }, ...hard("0") } as KubeObject;
  await client.create(quotaResource, quota);
  const name = { namespace, name: "none" };
  // A controller that does not run here would fill this in.
  const body = { status: { hard: { pods: "0" }, used: { pods: "0" } } };
  await client.patch(quotaResource, name, { type: "merge", body }, { subresource: "status" });
  controllers();
  await createVmi("third");
  await expect
    .poll(() => conditionOf("third", "Synchronized"), soon)
    .toMatchObject({
      status: "False",
      reason: "FailedCreate",
      message: expect.stringContaining("exceeded quota"),
    });
  await client.delete(quotaResource, name);
  await expect.poll(() => phaseOf("third"), soon).toBe("Running");
  expect(await conditionOf("third", "Synchronized")).toBeUndefined();
});

test("the controllers continue after the API server was killed", async () => {
  controllers();
  for (let n = 0; n < 6; n++) await createVmi(`vm-${n}`);
  await server.kill();
  await server.startAgain();
  await expect.poll(phases, soon).toEqual({ Running: 6 });
  expect(await left()).toEqual([6, 6]);
});

const program = fileURLToPath(new URL("../testing/controller-process.mjs", import.meta.url));

test("two processes at once create one Pod for each VMI, even if one is killed", async () => {
  const children = [1, 2].map(() =>
    spawn(process.execPath, [program, server.kubeconfig], {
      stdio: ["ignore", "inherit", "inherit"],
    }),
  );
  onTestFinished(async () => {
    for (const child of children) {
      const ended = once(child, "exit");
      if (child.kill("SIGTERM")) await ended;
    }
  });
  for (let n = 0; n < 10; n++) await createVmi(`vm-${n}`);
  await expect.poll(async () => (await left())[1], soon).toBeGreaterThan(0);
  children[0]?.kill("SIGKILL");
  await expect.poll(phases, soon).toEqual({ Running: 10 });
  expect(await left()).toEqual([10, 10]);
  await removeAll();
});
