import { connect } from "node:tls";
import { encodeGrant, freeGrant } from "@virtkit/api/grant";
import { at } from "@virtkit/api/shape";
import { afterAll, beforeAll, expect, test } from "vitest";
import { StartedServer } from "../testing/started-server.ts";
import { seedRunningVm } from "../testing/vm-objects.ts";

let started: StartedServer;

beforeAll(async () => {
  started = await StartedServer.start({ limits: { receive: 400 } });
  seedRunningVm(started.cluster);
});
afterAll(() => started[Symbol.asyncDispose]());

const domain = { devices: {}, memory: { guest: "1Gi" } };
const review = (resource: string, request: object): string =>
  JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "u1",
      resource: { group: "kubevirt.io", version: "v1", resource },
      operation: "CREATE",
      namespace: "default",
      userInfo: { username: "alice" },
      ...request,
    },
  });

async function post(path: string, body: string): Promise<unknown> {
  const { code, json, text } = await started.ask("POST", path, {
    body,
    headers: {},
    certificate: null,
  });
  if (code !== 200) throw new Error(`${code} ${text}`);
  return at(json, "response");
}

function patchOf(response: unknown): unknown {
  return JSON.parse(Buffer.from(String(at(response, "patch")), "base64").toString());
}

test("a VMI is defaulted and marked: it is Free and has its finalizer", async () => {
  const object = {
    metadata: { name: "a", annotations: { "virtkit.io/run-grant": "forged" } },
    spec: { domain },
  };
  const response = await post(
    "/virtualmachineinstances-mutate",
    review("virtualmachineinstances", { object }),
  );
  expect(response).toMatchObject({ uid: "u1", allowed: true });
  const metadata = (patchOf(response) as { path: string; value: unknown }[]).find(
    ({ path }) => path === "/metadata",
  );
  expect(metadata?.value).toMatchObject({
    annotations: { "virtkit.io/run-grant": encodeGrant(freeGrant) },
    finalizers: ["kubevirt.io/foregroundDeleteVirtualMachine"],
  });
});

test("reports an invalid VMI with the field", async () => {
  const object = { metadata: { name: "a" }, spec: { domain: { devices: {} } } };
  const response = await post(
    "/virtualmachineinstances-validate-create",
    review("virtualmachineinstances", { object }),
  );
  expect(response).toMatchObject({ allowed: false, status: { code: 422 } });
});

test("rules see the cluster as it is: a migration needs its VMI", async () => {
  const migration = (vmiName: string) =>
    review("virtualmachineinstancemigrations", {
      object: { metadata: { name: "m" }, spec: { vmiName } },
    });
  expect(await post("/migration-validate-create", migration("vm"))).toMatchObject({
    allowed: true,
  });
  expect(await post("/migration-validate-create", migration("none"))).toMatchObject({
    allowed: false,
  });
});

test("an eviction marks the VMI, and a dry run does not", async () => {
  started.cluster.seedByKind({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "launcher",
      namespace: "default",
      labels: { "kubevirt.io": "virt-launcher" },
      annotations: { "kubevirt.io/domain": "vm" },
    },
    spec: { nodeName: "node01", containers: [{ name: "compute", image: "i" }] },
  } as never);
  seedRunningVm(started.cluster, {
    status: { conditions: [{ type: "LiveMigratable", status: "True" }] },
    vm: {},
  });
  const client = started.cluster.client();
  const vmis = {
    group: "kubevirt.io",
    version: "v1",
    plural: "virtualmachineinstances",
    kind: "VirtualMachineInstance",
    namespaced: true,
  };
  const place = { namespace: "default", name: "vm" };
  await client.patch(vmis, place, {
    type: "merge",
    body: { spec: { evictionStrategy: "LiveMigrate" } },
  });
  const eviction = (dryRun: boolean): string =>
    review("pods", {
      resource: { group: "", version: "v1", resource: "pods" },
      subResource: "eviction",
      name: "launcher",
      dryRun,
      object: {},
    });
  const marked = async (): Promise<unknown> =>
    at(await client.get(vmis, place), "status", "evacuationNodeName");
  expect(await post("/pod-eviction-validate", eviction(true))).toMatchObject({
    allowed: false,
    status: { code: 429 },
  });
  expect(await marked()).toBeUndefined();
  expect(await post("/pod-eviction-validate", eviction(false))).toMatchObject({
    allowed: false,
    status: { code: 429 },
  });
  expect(await marked()).toBe("node01");
});

test("only the platform's own accounts may write status", async () => {
  const write = (username: string): string =>
    review("virtualmachines", {
      subResource: "status",
      operation: "UPDATE",
      object: {},
      oldObject: {},
      userInfo: { username },
    });
  expect(await post("/status-validate", write("alice"))).toMatchObject({ allowed: false });
  const controller = "system:serviceaccount:kubevirt:kubevirt-controller";
  expect(await post("/status-validate", write(controller))).toMatchObject({ allowed: true });
});

test("an agent may write its own Node and the VMIs of its node, as its token is bound to the node", async () => {
  const username = "system:serviceaccount:kubevirt:kubevirt-handler";
  const write = (node: string, resource: string, name: string, group = "kubevirt.io"): string => {
    const old = {
      metadata: { name, labels: {} },
      spec: { domain },
      status: { nodeName: "node01" },
    };
    return review(resource, {
      ...{ resource: { group, version: "v1", resource }, operation: "UPDATE", name },
      userInfo: { username, extra: { "authentication.kubernetes.io/node-name": [node] } },
      oldObject: old,
      object: { ...old, status: { ...old.status, phase: "Running" } },
    });
  };
  const vmiPath = "/virtualmachineinstances-validate-update";
  const answers = [
    await post(vmiPath, write("node01", "virtualmachineinstances", "vm")),
    await post(vmiPath, write("node02", "virtualmachineinstances", "vm")),
    await post("/node-validate", write("node01", "nodes", "node01", "")),
    await post("/node-validate", write("node02", "nodes", "node01", "")),
  ];
  expect(answers.map((answer) => at(answer, "allowed"))).toEqual([true, false, true, false]);
});

test("rejects the object when the cluster does not answer in time, and keeps serving", async () => {
  const never = (_: unknown, __: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise<never>((_resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason as Error));
    });
  const slow = await StartedServer.start({
    client: { get: never } as never,
    limits: { review: 50 },
  });
  const object = {
    metadata: { name: "vm", namespace: "default" },
    spec: {
      runStrategy: "Always",
      instancetype: { name: "none" },
      template: { spec: { domain } },
    },
  };
  const body = review("virtualmachines", { object });
  const options = { headers: {}, certificate: null };
  const answer = await slow.ask("POST", "/virtualmachines-validate", { ...options, body });
  expect(answer.json).toMatchObject({
    response: {
      allowed: false,
      status: { code: 429, message: expect.stringContaining("timed out") },
    },
  });
  expect((await slow.ask("GET", "/healthz", options)).code).toBe(200);
  await slow[Symbol.asyncDispose]();
});

test("rejects the object when a rule fails, and keeps serving", async () => {
  const broken = await StartedServer.start({
    config: () =>
      new Proxy({} as never, {
        get: () => {
          throw new Error("planted");
        },
      }),
  });
  const object = { metadata: {}, spec: { domain } };
  const body = review("virtualmachineinstances", { object });
  for (const attempt of [1, 2]) {
    const answer = await broken.ask("POST", "/virtualmachineinstances-validate-create", {
      body,
      headers: {},
      certificate: null,
    });
    expect([attempt, at(answer.json, "response", "allowed")]).toEqual([attempt, false]);
    expect(JSON.stringify(answer.json)).toContain("planted");
  }
  await broken[Symbol.asyncDispose]();
});

test.each([
  [
    "a review of another version",
    JSON.stringify({
      apiVersion: "admission.k8s.io/v1beta1",
      kind: "AdmissionReview",
      request: { uid: "u" },
    }),
  ],
  ["an object of another kind", JSON.stringify({ apiVersion: "v1", kind: "Pod" })],
  [
    "a review without a request",
    JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" }),
  ],
  ["a list", "[]"],
  ["nothing", "null"],
])("rejects %s, and says why", async (_, body) => {
  expect(await post("/virtualmachines-validate", body)).toMatchObject({
    allowed: false,
    status: { code: 400 },
  });
});

test("rejects broken JSON, a body that is too long and another method, and keeps serving", async () => {
  const options = { headers: {}, certificate: null };
  expect(
    (await started.ask("POST", "/virtualmachines-mutate", { ...options, body: "{bad" })).code,
  ).toBe(400);
  const long = Buffer.alloc(3 * 1024 * 1024 + 1, 32);
  expect(
    (await started.ask("POST", "/virtualmachines-mutate", { ...options, body: long })).code,
  ).toBe(413);
  expect((await started.ask("GET", "/virtualmachines-mutate", options)).code).toBe(405);
  // Just as long as it may be: read, and judged.
  const shorter = review("virtualmachines", { object: { spec: "" } });
  const filled = "x".repeat(3 * 1024 * 1024 - shorter.length);
  const longest = review("virtualmachines", { object: { spec: filled } });
  expect(longest).toHaveLength(3 * 1024 * 1024);
  expect(await post("/virtualmachines-validate", longest)).toMatchObject({ allowed: false });
});

test("cuts off a body that never ends, and answers others meanwhile", async () => {
  const socket = connect({
    host: "127.0.0.1",
    port: started.server.port,
    servername: "virt-api.kubevirt.svc",
    ca: started.authority.bundle,
  });
  socket.on("error", () => {});
  socket.write("POST /virtualmachines-mutate HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{");
  let answer = "";
  socket.on("data", (chunk) => {
    answer += String(chunk);
  });
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  expect((await started.ask("GET", "/healthz", { headers: {}, certificate: null })).code).toBe(200);
  await ended;
  expect(answer).toContain("408");
});

test("says why it is not ready", async () => {
  const options = { headers: {}, certificate: null };
  expect((await started.ask("GET", "/readyz", options)).code).toBe(200);
  const { frontProxy: _, ...waiting } = { frontProxy: undefined };
  const lost = await StartedServer.start({ ...waiting, frontProxy: undefined as never });
  const answer = await lost.ask("GET", "/readyz", options);
  expect(answer).toMatchObject({ code: 503, text: expect.stringContaining("front proxy") });
  await lost[Symbol.asyncDispose]();
});
