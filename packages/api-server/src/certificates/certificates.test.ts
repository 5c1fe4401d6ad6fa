import { X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import { names } from "@virtkit/api/names";
import { defineResource } from "@virtkit/kube";
import { apiServerIdentity, CertificateAuthority } from "@virtkit/pki";
import { InProcessApiServer, plainKind } from "@virtkit/testing/api-server";
import { expect, test } from "vitest";
import { otherResources } from "../resources.ts";
import { StartedServer } from "../testing/started-server.ts";
import { seedRunningVm } from "../testing/vm-objects.ts";
import { webhookConfigurations } from "../webhooks/webhook-configurations.ts";
import { apiServices } from "./api-services.ts";
import { bundledObjects, bundlePatch, keepBundles } from "./ca-bundles.ts";
import { SecretAuthorityStore } from "./secret-authority-store.ts";

const place = { namespace: "default", name: "virtkit-ca" };
const trustDomain = "test.example";

test("replicas that start at the same time agree on one CA", async () => {
  const cluster = new InProcessApiServer();
  const open = () =>
    CertificateAuthority.open({
      store: new SecretAuthorityStore(cluster.client(), place),
      trustDomain,
    });
  const replicas = await Promise.all([open(), open(), open(), open()]);
  await Promise.all(replicas.map((replica) => replica.refresh()));
  expect(new Set(replicas.map(({ bundle }) => bundle)).size).toBe(1);
  // The control writes without saying what it has read: the last one wins, and the others sign for nobody.
  const naive = await Promise.all(
    [1, 2].map(() => {
      let own: string | undefined;
      const store = {
        read: async () => (own === undefined ? undefined : { content: own, revision: "1" }),
        swap: async (content: string) => {
          own = content;
          return true;
        },
      };
      return CertificateAuthority.open({ store, trustDomain });
    }),
  );
  expect(new Set(naive.map(({ bundle }) => bundle)).size).toBe(2);
});

test("does not overwrite a Secret that holds something else", async () => {
  const cluster = new InProcessApiServer();
  cluster.seedByKind({
    apiVersion: "v1",
    kind: "Secret",
    metadata: place,
    data: { token: "eA==" },
  } as never);
  const store = new SecretAuthorityStore(cluster.client(), place);
  await expect(CertificateAuthority.open({ store, trustDomain })).rejects.toMatchObject({
    code: "API_SERVER_SECRET_INVALID",
  });
});

test("writes bundles where they differ, and nothing where they do not", async () => {
  const cluster = new InProcessApiServer({
    kinds: [
      otherResources.apiServices,
      otherResources.mutatingWebhooks,
      otherResources.validatingWebhooks,
    ].map((resource) => plainKind(defineResource({ ...resource }))),
  } as never);
  const client = cluster.client();
  const service = { namespace: "kubevirt", name: "virt-api" };
  const { mutating, validating } = webhookConfigurations({ service, caBundle: "old" }, names());
  for (const object of [mutating, validating, ...apiServices(service, "old", names())]) {
    cluster.seedByKind(object as never);
  }
  const targets = bundledObjects(names());
  expect(await keepBundles(client, "new", targets)).toBe(4);
  expect(await keepBundles(client, "new", targets)).toBe(0);
  const found = await client.get(otherResources.mutatingWebhooks, { name: "virt-api-mutator" });
  expect(bundlePatch(found, Buffer.from("new").toString("base64"))).toEqual([]);
});

test("renews a certificate under an open stream, and new connections get the new one", async () => {
  const started = await StartedServer.start();
  const { authority } = started;
  seedRunningVm(started.cluster);
  const before = await shown(started);
  const stream = await started.stream("virtualmachineinstances/vm/console");
  await authority.refresh({ rotate: true });
  await started.server.renew();
  expect(await shown(started)).not.toBe(before);
  expect(started.server.openStreams).toBe(1);
  if (typeof stream === "number") throw new Error("there is no stream");
  const echoed = new Promise((resolve) => stream.once("message", resolve));
  stream.send(Buffer.from("still here"));
  expect(String(await echoed)).toBe("still here");
  stream.terminate();
  await started[Symbol.asyncDispose]();
});

test("replicas that rotate at the same time agree on the next CA, and a client that trusts one trusts all", async () => {
  const cluster = new InProcessApiServer();
  // Two hours ago, so that what is signed later is valid for TLS, which goes by the clock of the machine.
  let now = new Date(Date.now() - 7_200_000);
  const open = () =>
    CertificateAuthority.open({
      store: new SecretAuthorityStore(cluster.client(), place),
      trustDomain,
      now: () => now,
    });
  const authorities = await Promise.all([open(), open(), open()]);
  const dnsNames = ["virt-api.kubevirt.svc"];
  const replicas = await Promise.all(
    authorities.map((authority) =>
      StartedServer.start({
        credentials: async () => {
          await authority.refresh();
          return authority.issue(apiServerIdentity(), { dnsNames });
        },
      }),
    ),
  );
  const bundles = (): ReadonlySet<string> => new Set(authorities.map(({ bundle }) => bundle));
  const all = (ca: string) => Promise.all(replicas.map((replica) => shown(replica, ca)));
  const [before = ""] = bundles();
  const first = await all(before);

  // Each makes a new authority of its own: one of them wins, and the others take over the winner's.
  await Promise.all(authorities.map((authority) => authority.refresh({ rotate: true })));
  await Promise.all(replicas.map(({ server }) => server.renew()));
  expect(bundles().size).toBe(1);
  const [both = ""] = bundles();
  expect(both.split("BEGIN CERTIFICATE")).toHaveLength(3);
  // The new one does not sign yet: who knows only the old one must not be lost.
  const second = await all(before);
  expect(second).not.toEqual(first);

  // Once all had the time to hear of it, all sign with it.
  now = new Date();
  for (const { server } of replicas) await server.renew();
  expect(bundles()).toEqual(new Set([both]));
  const next = both.slice(before.length);
  await all(both);
  await all(next);
  await expect(all(before)).rejects.toThrow();
  for (const replica of replicas) await replica[Symbol.asyncDispose]();
});

/** The serial number of the certificate that a new connection is shown. */
function shown(started: StartedServer, ca = started.authority.bundle): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      {
        host: "127.0.0.1",
        port: started.server.port,
        servername: "virt-api.kubevirt.svc",
        ca,
      },
      () => {
        const { raw } = socket.getPeerCertificate();
        socket.destroy();
        resolve(new X509Certificate(raw).serialNumber);
      },
    );
    socket.once("error", reject);
  });
}
