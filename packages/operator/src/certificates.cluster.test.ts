import { connect, createServer, type TLSSocket } from "node:tls";
import { serviceAccounts } from "@virtkit/api/admission";
import { until } from "@virtkit/api/clock";
import { crds } from "@virtkit/api/crd";
import { certificateNames, names as namesOf } from "@virtkit/api/names";
import { createCertificateSigner, SecretAuthorityStore } from "@virtkit/api-server";
import { defineResource, HttpClient, type KubeObject } from "@virtkit/kube";
import { applyObject } from "@virtkit/kube/writes";
import { type CertificateOptions, requestCertificate } from "@virtkit/node-agent/certificates";
import {
  apiServerIdentity,
  CertificateAuthority,
  clientTlsOptions,
  type Identity,
  migrationIdentity,
  nodeAgentIdentity,
  readCertificate,
  readCertificateRequest,
  serverTlsOptions,
  vsockIdentity,
} from "@virtkit/pki";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectionOf } from "../../kube/src/testing/real-api-server.ts";
import { resourceOf } from "./install/resource-of.ts";
import { accounts } from "./manifests/accounts.ts";
import { decided } from "./manifests/installation.ts";

/** Requests of the installed accounts, with tokens as the kubelet gets them for Pods, to a real API server. */
const namespace = "certificates";
const names = namesOf();
const trustDomain = "cluster.local";
const requests = defineResource({
  ...{ group: "certificates.k8s.io", version: "v1", namespaced: false },
  ...{ plural: "certificatesigningrequests", kind: "CertificateSigningRequest" },
});
const core = (plural: string, kind: string, namespaced = true) =>
  defineResource({ version: "v1", plural, kind, namespaced });
const pods = core("pods", "Pod");
const custom = (plural: string, kind: string) =>
  defineResource({ group: "kubevirt.io", version: "v1", plural, kind });

let connection: Awaited<ReturnType<typeof connectionOf>>;
let admin: HttpClient;
let authority: CertificateAuthority;
let migrationUid = "";
const clients: HttpClient[] = [];
const ending = new AbortController();
let signing: Promise<void>;

/** A client with the token of an account, bound to a Pod of a node if one is named. */
async function clientOf(account: string, node?: string): Promise<HttpClient> {
  const pod = node && (await admin.get(pods, { namespace, name: `${account}-${node}` }));
  const boundObjectRef = pod && {
    ...{ apiVersion: "v1", kind: "Pod" },
    ...{ name: pod.metadata.name, uid: pod.metadata.uid },
  };
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const spec = { expirationSeconds: 3600, ...(boundObjectRef && { boundObjectRef }) };
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
  const answer = await admin.request({ method: "POST", path, body });
  const headers = { authorization: `Bearer ${JSON.parse(answer.body).status.token}` };
  const { tls } = await connection.credentials();
  const client = new HttpClient({
    server: connection.server,
    credentials: async () => ({ headers, ...(tls && { tls }) }),
  });
  clients.push(client);
  return client;
}

async function seed(): Promise<void> {
  await admin.create(core("namespaces", "Namespace", false), { metadata: { name: namespace } });
  for (const object of [
    ...crds(),
    ...accounts(decided({ image: "none", namespace })),
  ] as KubeObject[]) {
    await applyObject(admin, resourceOf(object), object, { fieldManager: "test", force: true });
  }
  for (const account of ["kubevirt-handler", "kubevirt-controller"]) {
    for (const node of ["node-1", "node-2", "node-3"]) {
      await admin.create(pods, {
        metadata: { namespace, name: `${account}-${node}` },
        spec: {
          ...{ nodeName: node, serviceAccountName: account },
          containers: [{ name: "c", image: "none" }],
        },
      } as KubeObject);
    }
  }
  const vmims = custom("virtualmachineinstancemigrations", "VirtualMachineInstanceMigration");
  const isServed = () =>
    admin.list(vmims, { limit: 1 }).then(
      () => true,
      // The definition was created a moment ago.
      () => false,
    );
  await until(isServed, { interval: 100, timeout: 20_000 });
  const made = await admin.create(vmims, {
    metadata: { namespace, name: "move" },
    spec: { vmiName: "guest" },
  } as KubeObject);
  migrationUid = made.metadata.uid ?? "";
  const migrationState = { migrationUid, sourceNode: "node-1", targetNode: "node-2" };
  await admin.create(custom("virtualmachineinstances", "VirtualMachineInstance"), {
    metadata: { namespace, name: "guest" },
    spec: { domain: { devices: {} } },
    status: { migrationState },
  } as unknown as KubeObject);
}

beforeAll(async () => {
  connection = await connectionOf(process.env["VIRTKIT_APISERVER_KUBECONFIG"] ?? "");
  admin = new HttpClient(connection);
  await seed();
  const client = await clientOf("kubevirt-apiserver");
  const store = new SecretAuthorityStore(client, { namespace, name: "virtkit-ca" });
  authority = await CertificateAuthority.open({ store, trustDomain });
  const own = { client, authority, namespace, accounts: serviceAccounts(namespace), names };
  // Two replicas answer the same requests.
  const signers = [createCertificateSigner(own), createCertificateSigner(own)];
  const { signal } = ending;
  signing = Promise.all(signers.map((signer) => signer.run({ signal }))).then(() => undefined);
}, 60_000);

afterAll(async () => {
  ending.abort();
  await signing;
  for (const client of clients) client.close();
  for (const { metadata } of (await admin.list(requests)).items) {
    await admin.delete(requests, { name: metadata.name ?? "" });
  }
  admin.close();
});

const migration = { namespace, name: "move" };
const ask = async (
  account: string,
  node: string | undefined,
  identity: Identity,
  more: Partial<CertificateOptions> = {},
) => {
  const client = await clientOf(account, node);
  return await requestCertificate({ client, namespace, identity, timeout: 20_000, ...more });
};

test("the agent of a node gets its certificates, and both nodes of a migration theirs", async () => {
  for (const own of [nodeAgentIdentity("node-1"), vsockIdentity("node-1")]) {
    using agent = await ask("kubevirt-handler", "node-1", own);
    expect(readCertificate(agent.current.certificate).identity).toEqual(own);
  }
  for (const [node, side] of [
    ["node-1", "source"],
    ["node-2", "target"],
  ] as const) {
    const identity = migrationIdentity(migrationUid, side);
    using moved = await ask("kubevirt-handler", node, identity, { migration });
    expect(readCertificate(moved.current.certificate).identity).toEqual(identity);
  }
});

/** Who requests a certificate of somebody else, and the reason for the refusal. */
const attacks: readonly (readonly [
  what: string,
  account: string,
  node: string | undefined,
  identity: () => Identity,
  reason: string,
])[] = [
  ["of another node", "kubevirt-handler", "node-1", () => nodeAgentIdentity("node-2"), "WrongNode"],
  ["of another node's VSOCK", "kubevirt-handler", "node-1", () => vsockIdentity("x"), "WrongNode"],
  ["of the API server", "kubevirt-handler", "node-1", () => apiServerIdentity(), "WrongRole"],
  [
    "of a node with another account",
    ...(["kubevirt-controller", "node-1", () => nodeAgentIdentity("node-1")] as const),
    "WrongAccount",
  ],
  [
    "with a token that names no node",
    ...(["kubevirt-handler", undefined, () => nodeAgentIdentity("node-1")] as const),
    "UnknownNode",
  ],
  [
    "of the other side of a migration",
    ...(["kubevirt-handler", "node-1", () => migrationIdentity(migrationUid, "target")] as const),
    "WrongNode",
  ],
  [
    "of a migration of other nodes",
    ...(["kubevirt-handler", "node-3", () => migrationIdentity(migrationUid, "source")] as const),
    "WrongNode",
  ],
  [
    "of a migration that does not exist",
    ...(["kubevirt-handler", "node-1"] as const),
    () => migrationIdentity("0d8e5c10-9d0e-4f34-8a86-2f7a4f0c9f52", "source"),
    "WrongMigration",
  ],
  [
    "with more names than a role has",
    ...(["kubevirt-handler", "node-1"] as const),
    () => ({ role: "node-agent", names: ["node-1", "node-2"] }),
    "WrongNode",
  ],
];

/** What a signer does that believes what a request says about its sender. */
async function signWhatIsAsked(signerName: string): Promise<string> {
  const found = await until(
    async () => {
      const fieldSelector = `spec.signerName=${signerName}`;
      const { items } = await admin.list(requests, { fieldSelector });
      return items.find((each) => !("certificate" in ((each as never)["status"] ?? {})));
    },
    { interval: 50, timeout: 20_000 },
  );
  const spec = (found as unknown as { spec: { request: string } }).spec;
  const pem = Buffer.from(spec.request, "base64").toString();
  const { publicKey, identity } = await readCertificateRequest(pem);
  return await authority.sign(publicKey, identity);
}

test.each(attacks)("nobody gets the certificate %s", async (_, account, node, identity, reason) => {
  if (account === "kubevirt-controller") await letAsk(account);
  const asking = ask(account, node, identity(), { migration });
  await expect(asking).rejects.toThrow(`(${reason})`);

  // Control: the same request, to a signer that checks nothing else.
  const naive = namesOf({ ownPrefix: `naive-${reason.toLowerCase()}.example` });
  const client = await clientOf(account, node);
  const giveUp = new AbortController();
  const more = { client, namespace, migration, names: naive, signal: giveUp.signal };
  const waiting = requestCertificate({ ...more, identity: identity(), timeout: 20_000 });
  const ended = waiting.catch((error: unknown) => error);
  const fooled = await signWhatIsAsked(certificateNames(naive).signer);
  expect(readCertificate(fooled).identity).toEqual(identity());
  giveUp.abort();
  await ended;
  await removeRequests(certificateNames(naive).signer);
});

/** More permissions than it has, so that the signer must refuse it. */
async function letAsk(account: string): Promise<void> {
  const binding = {
    ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding" },
    metadata: { name: "test-may-ask" },
    roleRef: {
      apiGroup: "rbac.authorization.k8s.io",
      kind: "ClusterRole",
      name: "kubevirt-handler",
    },
    subjects: [{ kind: "ServiceAccount", name: account, namespace }],
  } as unknown as KubeObject;
  const local = {
    ...binding,
    kind: "RoleBinding",
    metadata: { name: "test-may-ask", namespace },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "kubevirt-handler" },
  } as unknown as KubeObject;
  for (const object of [binding, local]) {
    await applyObject(admin, resourceOf(object), object, { fieldManager: "test", force: true });
  }
}

async function removeRequests(signerName: string): Promise<void> {
  const fieldSelector = `spec.signerName=${signerName}`;
  for (const { metadata } of (await admin.list(requests, { fieldSelector })).items) {
    await admin.delete(requests, { name: metadata.name ?? "" });
  }
}

test("does not sign a request for somebody else even if another party has approved it", async () => {
  const approver = new AbortController();
  const approving = (async () => {
    for await (const { type, object } of admin.watch(requests, { signal: approver.signal })) {
      if (type !== "ADDED") continue;
      const condition = { type: "Approved", status: "True", reason: "Test", message: "by hand" };
      const status = { conditions: [condition] };
      await admin
        .update(requests, { ...object, status } as KubeObject, { subresource: "approval" })
        // The signer was faster and has denied it.
        .catch(() => undefined);
    }
  })().catch(() => undefined);
  const identity = nodeAgentIdentity("node-2");
  await expect(ask("kubevirt-handler", "node-1", identity)).rejects.toThrow("(WrongNode)");
  approver.abort();
  await approving;
});

test("ignores a request to another signer, and the requester learns that nobody answers", async () => {
  const other = namesOf({ ownPrefix: "other.example" });
  const asking = ask("kubevirt-handler", "node-1", nodeAgentIdentity("node-1"), {
    ...{ names: other, timeout: 1_500 },
  });
  await expect(asking).rejects.toMatchObject({ code: "AGENT_TIMEOUT" });
  const fieldSelector = `spec.signerName=${certificateNames(other).signer}`;
  const { items } = await admin.list(requests, { fieldSelector });
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({ status: {} });
});

test("an agent may request and read, but neither approve nor read the authority's key", async () => {
  const client = await clientOf("kubevirt-handler", "node-1");
  const { items } = await admin.list(requests);
  const [any] = items as readonly [KubeObject, ...KubeObject[]];
  await expect(client.update(requests, any, { subresource: "approval" })).rejects.toMatchObject({
    status: 403,
  });
  const secret = core("secrets", "Secret");
  const place = { namespace, name: "virtkit-ca" };
  await expect(client.get(secret, place)).rejects.toMatchObject({ status: 403 });
  expect((await client.get(core("configmaps", "ConfigMap"), place)).metadata.name).toBe(place.name);
});

test("certificate and authorities are renewed under an open connection, which stays open", async () => {
  let late = 0;
  const now = (): Date => new Date(Date.now() + late);
  using held = await ask("kubevirt-handler", "node-1", nodeAgentIdentity("node-1"), { now });
  const first = held.current;
  const listener = createServer(serverTlsOptions(first), (socket) => socket.pipe(socket));
  held.serve(listener);
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as { port: number };
  const caller = await authority.issue(apiServerIdentity());
  const open = (): Promise<TLSSocket> => {
    const options = clientTlsOptions(caller, nodeAgentIdentity("node-1"));
    const socket = connect({ host: "127.0.0.1", port, ...options });
    return new Promise((resolve, reject) => {
      socket.once("secureConnect", () => resolve(socket)).once("error", reject);
    });
  };
  const echo = (socket: TLSSocket, word: string): Promise<string> =>
    new Promise((resolve) => {
      socket.once("data", (data) => resolve(String(data)));
      socket.write(word);
    });
  const old = await open();
  expect(await echo(old, "before")).toBe("before");

  // A new authority is announced: the certificate stays, and holders of a certificate of the new authority are
  // already trusted.
  await authority.refresh({ rotate: true });
  await held.renew();
  const isTold = async (): Promise<boolean> => {
    await held.renew();
    return held.current.authorities === authority.bundle;
  };
  // The next signer publishes the bundle; any request makes it do so at once.
  using _ = await ask("kubevirt-handler", "node-2", nodeAgentIdentity("node-2"));
  expect(await until(isTold, { interval: 100, timeout: 20_000 })).toBe(true);
  expect(held.current.certificate).toBe(first.certificate);
  expect(held.current.authorities).not.toBe(first.authorities);

  late = 17 * 3_600_000;
  await held.renew();
  expect(held.current.certificate).not.toBe(first.certificate);
  expect(held.current.privateKey).not.toBe(first.privateKey);
  expect(await echo(old, "after")).toBe("after");
  const fresh = await open();
  const shown = fresh.getPeerX509Certificate()?.serialNumber;
  expect(shown).not.toBe(old.getPeerX509Certificate()?.serialNumber);
  expect(await echo(fresh, "new")).toBe("new");
  old.destroy();
  fresh.destroy();
  listener.close();
});
