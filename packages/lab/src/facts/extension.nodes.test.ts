import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { attachCluster } from "../cluster/attach-cluster.ts";
import { createNamespace } from "../cluster/cluster-namespace.ts";

const cluster = attachCluster();

type Extension = AsyncDisposable & {
  readonly port: number;
  readonly caBundle: string;
};

type Handler = (path: string, body: string, request: IncomingMessage) => unknown;

/** A server in this process that the API server reaches as a Service of the cluster. */
async function serveAs(name: string, namespace: string, handle: Handler): Promise<Extension> {
  const { key, cert, ca } = await cluster.serverCertificate([`${name}.${namespace}.svc`]);
  const server: Server = createServer({ key, cert }, (request, response) => {
    void answer(request, response, handle);
  });
  server.listen(0, cluster.layout.hostAddress);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await cluster.apply(...selectorless(name, namespace, port));
  return {
    port,
    caBundle: Buffer.from(ca).toString("base64"),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, handle: Handler) {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(handle(request.url ?? "", body, request)));
}

/** A Service without a selector has the endpoints that someone writes for it. */
function selectorless(name: string, namespace: string, port: number): object[] {
  const metadata = { name, namespace };
  const labels = { "kubernetes.io/service-name": name };
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { ports: [{ port: 443, targetPort: port }] },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { ...metadata, labels },
      addressType: "IPv4",
      endpoints: [{ addresses: [cluster.layout.hostAddress] }],
      ports: [{ port }],
    },
  ];
}

test("serves an aggregated API through a hand-made EndpointSlice, with the caller's identity", async () => {
  await using namespace = await createNamespace(cluster);
  const group = `${namespace.name}.virtkit.io`;
  const resource = { name: "things", kind: "Thing", namespaced: true, verbs: ["get"] };
  const resources = { kind: "APIResourceList", apiVersion: "v1", groupVersion: `${group}/v1` };
  await using extension = await serveAs("extension", namespace.name, (path, _, request) =>
    path.includes("/things/")
      ? { path, user: request.headers["x-remote-user"], groups: request.headers["x-remote-group"] }
      : { ...resources, resources: [resource] },
  );
  const name = `v1.${group}`;
  const service = { name: "extension", namespace: namespace.name };
  const spec = { group, version: "v1", groupPriorityMinimum: 100, versionPriority: 10, service };
  await cluster.apply({
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name },
    spec: { ...spec, caBundle: extension.caBundle },
  });
  try {
    const path = `/apis/${group}/v1/namespaces/${namespace.name}/things/one`;
    await expect.poll(async () => (await cluster.request(path)).status).toBe(200);
    expect((await cluster.request(path)).body).toEqual({
      path,
      user: "admin",
      groups: "system:masters, system:authenticated",
    });
  } finally {
    await cluster.request(`/apis/apiregistration.k8s.io/v1/apiservices/${name}`, {
      method: "DELETE",
    });
  }
});

test("calls webhooks through a hand-made EndpointSlice: one changes what is created, one rejects it", async () => {
  await using namespace = await createNamespace(cluster);
  const patch = [{ op: "add", path: "/data/seen", value: "yes" }];
  await using hook = await serveAs("hook", namespace.name, (path, body) => {
    const { request } = JSON.parse(body) as { request: { uid: string; object: { data: object } } };
    const isRefused = path.startsWith("/validate") && "bad" in request.object.data;
    const response = {
      uid: request.uid,
      allowed: !isRefused,
      ...(isRefused ? { status: { code: 422, message: "data.bad: must not be there" } } : {}),
      ...(path.startsWith("/mutate")
        ? { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") }
        : {}),
    };
    return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response };
  });
  const kinds = { Mutating: "/mutate", Validating: "/validate" };
  const configurations = Object.entries(kinds).map(([kind, path]) => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${kind}WebhookConfiguration`,
    metadata: { name: namespace.name },
    webhooks: [
      {
        name: "hook.virtkit.io",
        clientConfig: {
          service: { name: "hook", namespace: namespace.name, path },
          caBundle: hook.caBundle,
        },
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace.name } },
        rules: [
          {
            apiGroups: [""],
            apiVersions: ["v1"],
            operations: ["CREATE"],
            resources: ["configmaps"],
          },
        ],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  }));
  await cluster.apply(...configurations);
  try {
    const create = async (name: string, data: object) =>
      await cluster.request(`/api/v1/namespaces/${namespace.name}/configmaps`, {
        method: "POST",
        body: { metadata: { name }, data },
      });
    // The API server learns of webhooks a moment after they are created.
    let count = 0;
    await expect
      .poll(async () => (await create(`good-${count++}`, { a: "b" })).body)
      .toMatchObject({ data: { a: "b", seen: "yes" } });
    await expect.poll(async () => (await create(`bad-${count++}`, { bad: "b" })).status).toBe(422);
    const refused = await create("bad", { bad: "b" });
    expect((refused.body as { message: string }).message).toContain("data.bad: must not be there");
  } finally {
    const group = "/apis/admissionregistration.k8s.io/v1";
    for (const kind of ["mutating", "validating"]) {
      const path = `${group}/${kind}webhookconfigurations/${namespace.name}`;
      await cluster.request(path, { method: "DELETE" });
    }
  }
});

test("rejects an endpoint on loopback", async () => {
  await using namespace = await createNamespace(cluster);
  const { status } = await cluster.request(
    `/apis/discovery.k8s.io/v1/namespaces/${namespace.name}/endpointslices`,
    {
      method: "POST",
      body: {
        metadata: { name: "loop" },
        addressType: "IPv4",
        endpoints: [{ addresses: ["127.0.0.1"] }],
        ports: [{ port: 443 }],
      },
    },
  );
  expect(status).toBe(422);
});
