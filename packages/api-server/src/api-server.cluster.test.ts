import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { until } from "@virtkit/api/clock";
import { crds } from "@virtkit/api/crd";
import { encodeGrant, freeGrant } from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import { at } from "@virtkit/api/shape";
import { defineResource, type HttpClient, isKubeError, type KubeObject } from "@virtkit/kube";
import { applyObject } from "@virtkit/kube/writes";
import { apiServerIdentity, CertificateAuthority, nodeAgentIdentity } from "@virtkit/pki";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import WebSocket from "ws";
import { connectionOf, sharedClient } from "../../kube/src/testing/real-api-server.ts";
import {
  type ApiServer,
  apiServices,
  createApiServer,
  SecretAuthorityStore,
  webhookConfigurations,
} from "./index.ts";
import { otherResources, serverResources } from "./resources.ts";
import { type ClientRequest, clientRequests } from "./testing/client-requests.ts";
import { NodeSide } from "./testing/node-side.ts";
import { TestAuthority } from "./testing/test-authority.ts";

const namespace = "api-server";
const agentAccount = `system:serviceaccount:${namespace}:kubevirt-handler`;
const service = { namespace, name: "virt-api" };
const { virtualmachines: vms, virtualmachineinstances: vmis } = serverResources(names());
const plain = (plural: string, kind: string, more: object = {}) =>
  defineResource({ version: "v1", plural, kind, ...more });
const crdResource = plain("customresourcedefinitions", "CustomResourceDefinition", {
  group: "apiextensions.k8s.io",
  namespaced: false,
});
const cleanUp: (() => Promise<unknown>)[] = [];
let client: HttpClient;
let node: NodeSide;
let server: ApiServer;

beforeAll(async () => {
  client = await sharedClient();
  const remove = (resource: Parameters<HttpClient["delete"]>[0], name: string) => () =>
    client.delete(resource, { name }).catch(ignoreMissing);
  await client.create(plain("namespaces", "Namespace", { namespaced: false }), {
    metadata: { name: namespace },
  });
  for (const crd of crds()) {
    await applyObject(client, crdResource, crd as unknown as KubeObject, {
      fieldManager: "test",
      force: true,
    });
  }
  const store = new SecretAuthorityStore(client, { namespace, name: "virtkit-ca" });
  const authority = await CertificateAuthority.open({ store, trustDomain: "test.example" });
  node = await NodeSide.start(await authority.issue(nodeAgentIdentity("node01")));
  server = await createApiServer({
    client,
    credentials: async () => {
      await authority.refresh();
      return authority.issue(apiServerIdentity(), { dnsNames: [`virt-api.${namespace}.svc`] });
    },
    // The tests write what controllers and agents write, as the user admin.
    accounts: {
      isKubeVirt: (user) => user === "admin" || user === agentAccount,
      isHandler: (user) => user === agentAccount,
      isController: (user) => user === "admin",
    },
    nodeAgentAddress: async (name) => (name === "node01" ? "127.0.0.1" : undefined),
    nodeAgentPort: node.port,
    addressFault: () => undefined,
    listen: { port: 0, host: "127.0.0.1" },
    version: { gitVersion: "v1.9.0" },
  });
  // The API server may not be sent to loopback by an endpoint; by a name it may.
  await client.create(plain("services", "Service"), {
    metadata: service,
    spec: { type: "ExternalName", externalName: "localhost", ports: [{ port: server.port }] },
  } as KubeObject);
  const nodes = plain("nodes", "Node", { namespaced: false });
  await client.create(nodes, { metadata: { name: "node01" } });
  cleanUp.push(remove(nodes, "node01"));
  for (const name of ["p", "v"]) {
    await client.create(plain("persistentvolumeclaims", "PersistentVolumeClaim"), {
      metadata: { name, namespace },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    } as KubeObject);
  }
  const target = { ...service, port: server.port };
  const { certificate: caBundle } = await TestAuthority.create("stale");
  // With a bundle that is not the server's: it is for the server to put that right.
  const { mutating, validating } = webhookConfigurations({ service: target, caBundle }, names());
  for (const object of apiServices(target, caBundle, names())) {
    cleanUp.push(remove(otherResources.apiServices, object.metadata.name ?? ""));
    await client.create(otherResources.apiServices, object);
  }
  cleanUp.push(remove(otherResources.mutatingWebhooks, mutating.metadata.name ?? ""));
  cleanUp.push(remove(otherResources.validatingWebhooks, validating.metadata.name ?? ""));
  await client.create(otherResources.mutatingWebhooks, mutating);
  await client.create(otherResources.validatingWebhooks, validating);
  await server.renew();
  const isServed = async (): Promise<boolean> => {
    const found = await client.get(otherResources.apiServices, {
      name: "v1.subresources.kubevirt.io",
    });
    return JSON.stringify(at(found, "status", "conditions") ?? []).includes('"Passed"');
  };
  if (!(await until(isServed, { interval: 100, timeout: 60_000 })))
    throw new Error("the APIService is not available");
}, 120_000);

afterAll(async () => {
  for (const each of cleanUp) await each();
  await server?.[Symbol.asyncDispose]();
  await node?.[Symbol.asyncDispose]();
  client?.close();
});

beforeEach(() => {
  node.answer = undefined;
  node.seen.length = 0;
});

function ignoreMissing(error: unknown): void {
  if (!isKubeError(error) || error.status !== 404) throw error;
}

const domain = { devices: { clientPassthrough: {} }, memory: { guest: "64Mi" } };
const vmObject = (name: string, spec: object = {}): KubeObject =>
  ({
    metadata: { name, namespace },
    spec: { runStrategy: "Manual", template: { spec: { domain } }, ...spec },
  }) as KubeObject;

/** A VM whose VMI runs on node01. */
async function runningVm(name: string): Promise<void> {
  const vm = await client.create(vms, vmObject(name) as never);
  const owner = {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachine",
    name,
    uid: vm.metadata.uid ?? "",
    controller: true,
  };
  await client.create(vmis, {
    metadata: { name, namespace, ownerReferences: [owner] },
    spec: { domain },
  } as never);
  const place = { namespace, name };
  await client.patch(
    vms,
    place,
    { type: "merge", body: { status: { created: true } } },
    { subresource: "status" },
  );
  await settle(name, {});
}

/** Puts VM and VMI back into the state from which a client's command starts. */
async function settle(
  name: string,
  { vm = {}, status: more = {}, conditions = [] }: NonNullable<ClientRequest["before"]>,
): Promise<void> {
  const place = { namespace, name };
  const agent = { type: "AgentConnected", status: "True" };
  const status = {
    phase: "Running",
    nodeName: "node01",
    interfaces: [{ name: "default", ipAddress: "127.0.0.1" }],
    conditions: [agent, ...conditions],
  };
  await client.patch(vmis, place, { type: "merge", body: { status } });
  await client.patch(vms, place, {
    type: "merge",
    body: { spec: { runStrategy: "Manual", ...vm } },
  });
  const cleared = {
    stateChangeRequests: null,
    volumeRequests: null,
    memoryDumpRequest: null,
    ...more,
  };
  await client.patch(
    vms,
    place,
    { type: "merge", body: { status: cleared } },
    { subresource: "status" },
  );
}

test("the CA bundles follow the server's", async () => {
  for (const name of ["v1.subresources.kubevirt.io", "v1alpha3.subresources.kubevirt.io"]) {
    const found = await client.get(otherResources.apiServices, { name });
    const bundle = Buffer.from(String(at(found, "spec", "caBundle")), "base64").toString();
    expect(bundle).toBe(server.bundle);
  }
});

test("a created VMI is defaulted, Free and marked, and a foreign change to its grant is reverted", async () => {
  const created = await client.create(vmis, {
    metadata: { name: "marked", namespace, annotations: { "virtkit.io/run-grant": "forged" } },
    spec: { domain },
  } as never);
  const key = "virtkit.io/run-grant";
  expect(created.metadata.annotations?.[key]).toBe(encodeGrant(freeGrant));
  expect(created.metadata.finalizers).toContain(names().finalizers.vmi);
  await client.request({
    method: "PATCH",
    path: `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/marked`,
    headers: {
      "content-type": "application/merge-patch+json",
      "impersonate-user": "eve",
      "impersonate-group": "system:masters",
    },
    body: JSON.stringify({ metadata: { annotations: { [key]: "stolen", mine: "1" } } }),
  });
  const after = await client.get(vmis, { namespace, name: "marked" });
  expect(after.metadata.annotations).toMatchObject({ [key]: encodeGrant(freeGrant), mine: "1" });
});

test("an agent may change its own Node and the VMIs of its node; as another user, the same writes pass", async () => {
  await runningVm("of-node01");
  const write = (path: string, body: object, user: string, node?: string) =>
    client
      .request({
        ...{ method: "PATCH", path, body: JSON.stringify(body) },
        headers: {
          "content-type": "application/merge-patch+json",
          "impersonate-user": user,
          "impersonate-group": "system:masters",
          ...(node && { "impersonate-extra-authentication.kubernetes.io%2fnode-name": node }),
        },
      })
      .then(
        ({ status }) => status,
        (error: { status?: number }) => error.status,
      );
  const vmi = `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/of-node01`;
  const status = { status: { guestOSInfo: { name: "Linux" } } };
  const label = { metadata: { labels: { "kubevirt.io/schedulable": "true" } } };
  const nodePath = "/api/v1/nodes/node01";
  expect([
    await write(vmi, status, agentAccount, "node01"),
    await write(vmi, { spec: { hostname: "x" } }, agentAccount, "node01"),
    await write(vmi, status, agentAccount, "node02"),
    await write(vmi, status, agentAccount),
    await write(nodePath, label, agentAccount, "node01"),
    await write(nodePath, label, agentAccount, "node02"),
    await write(nodePath, label, agentAccount),
    // The control: the rule alone is what has kept node02's agent from it.
    await write(vmi, { status: { guestOSInfo: { name: "BSD" } } }, "admin"),
    await write(nodePath, label, "admin"),
  ]).toEqual([200, 422, 422, 422, 200, 422, 422, 200, 200]);
});

test("the API server rejects an invalid object and names the field", async () => {
  const bad = { metadata: { name: "bad", namespace }, spec: { domain: { devices: {} } } } as never;
  await expect(client.create(vmis, bad)).rejects.toMatchObject({ status: 422 });
  await expect(
    client.request({
      method: "PATCH",
      path: `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/marked`,
      headers: {
        "content-type": "application/merge-patch+json",
        "impersonate-user": "eve",
        "impersonate-group": "system:masters",
      },
      body: JSON.stringify({ spec: { domain: { memory: { guest: "1Gi" } } } }),
    }),
  ).rejects.toMatchObject({ status: 422 });
});

test("users need permission: from the API server for the verb, and from this server for the whole subresource", async () => {
  await runningVm("leave");
  const ask = (user: string) =>
    client
      .request({
        path: `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/leave/vnc/screenshot`,
        headers: { "impersonate-user": user },
      })
      .then(
        ({ status }) => status,
        (error: { status?: number }) => error.status,
      );
  const role = (subresources: string[]) => ({
    metadata: { name: subresources.length > 1 ? "both" : "one", namespace },
    rules: [
      {
        apiGroups: ["subresources.kubevirt.io"],
        resources: subresources.map((each) => `virtualmachineinstances/${each}`),
        verbs: ["get"],
      },
    ],
  });
  const rbac = { group: "rbac.authorization.k8s.io" };
  const roles = plain("roles", "Role", rbac);
  const bindings = plain("rolebindings", "RoleBinding", rbac);
  for (const [user, object] of [
    ["one", role(["vnc"])],
    ["both", role(["vnc", "vnc/screenshot"])],
  ] as const) {
    await client.create(roles, object as KubeObject);
    await client.create(bindings, {
      metadata: { name: user, namespace },
      roleRef: { apiGroup: rbac.group, kind: "Role", name: user },
      subjects: [{ apiGroup: rbac.group, kind: "User", name: user }],
    } as KubeObject);
  }
  node.answer = { code: 200, body: "PNG" };
  expect(await ask("nobody")).toBe(403);
  // kube-apiserver asks for the first part alone; this server asks for the whole.
  expect(await ask("one")).toBe(403);
  await until(async () => (await ask("both")) === 200, { interval: 50, timeout: 20_000 });
  expect(await ask("both")).toBe(200);
});

/** Makes the VM that a command is for, in the state that it is for; its name. */
async function prepare(prefix: string, request: ClientRequest): Promise<string> {
  const name = `${prefix}-${request.command.replaceAll(/[^a-z]+/g, "-").replaceAll(/^-|-$/g, "")}`;
  if (request.isHalted) {
    await client.create(vms, vmObject(name, { runStrategy: "Halted" }) as never);
  } else await runningVm(name);
  if (request.before) await settle(name, request.before);
  node.answer = request.node;
  return name;
}

/** Whether the node and the VM have seen of a command what they should. */
async function expectDone(name: string, { sees, check }: ClientRequest): Promise<void> {
  if (sees)
    expect(node.seen.map(({ target }) => target)).toEqual([
      `/v1/namespaces/${namespace}/virtualmachineinstances/${name}/${sees}`,
    ]);
  if (!check) return;
  const vm = await client.get(vms, { namespace, name });
  expect(check({ vm }), name).toBe(true);
}

test.each(clientRequests.map((each): [string, ClientRequest] => [each.command, each]))(
  "virtctl %s",
  async (_, request) => {
    const { method, path, headers = {}, body, code, says = "" } = request;
    const name = await prepare("t", request);
    const answered = await client
      .request({
        method,
        path: path.replaceAll("{ns}", namespace).replaceAll("{x}", name),
        headers,
        ...(body === undefined ? {} : { body }),
      })
      .catch((error: { status?: number; message: string }) => ({
        status: error.status,
        body: error.message,
      }));
    expect(answered).toMatchObject({ status: code, body: expect.stringContaining(says) });
    await expectDone(name, request);
  },
);

test.each(["console", "vnc?preserveSession=false", "usbredir"])(
  "virtctl %s, through the API server",
  async (stream) => {
    const name = `s-${stream.split("?")[0]}`;
    await runningVm(name);
    await echoed(`virtualmachineinstances/${name}/${stream}`);
  },
);

/** A server of the guest that sends everything back. */
async function echoingGuest(): Promise<{ port: number } & Disposable> {
  const guest = createServer((socket) => socket.pipe(socket));
  await new Promise<void>((resolve) => guest.listen(0, "127.0.0.1", resolve));
  const { port } = guest.address() as { port: number };
  return { port, [Symbol.dispose]: () => guest.close() };
}

test("virtctl port-forward, through the API server", async () => {
  using guest = await echoingGuest();
  await runningVm("forward");
  await echoed(`virtualmachines/forward/portforward/${guest.port}/tcp`);
});

/** Opens a stream as virtctl does, and has bytes come back. */
async function echoed(rest: string): Promise<void> {
  const { server: url, credentials } = await connectionOf(
    process.env["VIRTKIT_APISERVER_KUBECONFIG"] ?? "",
  );
  const { headers, tls } = await credentials();
  const socket = new WebSocket(
    `${url.replace("https", "wss")}/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/${rest}`,
    "plain.kubevirt.io",
    { headers: headers as Record<string, string>, ca: tls?.ca as Buffer, perMessageDeflate: false },
  );
  const sent = Buffer.alloc(300_000, 5);
  let received = 0;
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("open", () => {
      for (let offset = 0; offset < sent.length; offset += 10_240)
        socket.send(sent.subarray(offset, offset + 10_240));
    });
    socket.on("message", (data: Buffer) => {
      received += data.length;
      if (received === sent.length) resolve();
    });
  });
  expect(socket.protocol).toBe("plain.kubevirt.io");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.close(1000);
  await closed;
}

const virtctl = process.env["VIRTCTL"];
const given = ["--kubeconfig", process.env["VIRTKIT_APISERVER_KUBECONFIG"] ?? "", "-n", namespace];
test("a real virtctl does the same", async ({ skip }) => {
  skip(!virtctl, "set VIRTCTL to the path of KubeVirt's v1.9 client");
  const file = join(await mkdtemp(join(tmpdir(), "virtkit-virtctl-")), "vm.json");
  cleanUp.push(() => rm(dirname(file), { recursive: true }));
  for (const request of clientRequests) {
    const { command, line = `${command} {x}`, body = "", code } = request;
    const name = await prepare("real", request);
    await writeFile(file, body);
    const words = line.replace("{x}", name).replace("{file}", file).split(" ");
    node.seen.length = 0;
    const ended = promisify(execFile)(virtctl ?? "", [...given, ...words], { timeout: 30_000 });
    if (code < 400) await expect(ended, line).resolves.toBeDefined();
    else await expect(ended, line).rejects.toBeDefined();
    await expectDone(name, request);
  }
  using guest = await echoingGuest();
  await runningVm("real-forward");
  const forward = ["port-forward", "--stdio=true", "vmi/real-forward", String(guest.port)];
  const forwarding = spawn(virtctl ?? "", [...given, ...forward]);
  forwarding.stdin.write("there and back");
  const [echo] = await once(forwarding.stdout, "data", { signal: AbortSignal.timeout(30_000) });
  forwarding.kill();
  expect(String(echo)).toBe("there and back");
}, 180_000);
