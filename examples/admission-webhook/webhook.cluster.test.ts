import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { crds } from "@virtkit/api/crd";
import { defineResource, type HttpClient, type KubeObject } from "@virtkit/kube";
import { kubeconfigClient } from "@virtkit/kube/kubeconfig";
import { applyObject } from "@virtkit/kube/writes";
import { apiServerIdentity, CertificateAuthority, FileAuthorityStore } from "@virtkit/pki";
import { afterAll, beforeAll, expect, test } from "vitest";
import { admissionWebhook } from "./webhook.mjs";

const namespace = "admission-webhook";
const cluster = { namespaced: false };
const vmis = defineResource({
  group: "kubevirt.io",
  version: "v1",
  plural: "virtualmachineinstances",
  kind: "VirtualMachineInstance",
});
const hooks = (kind: "Mutating" | "Validating") =>
  defineResource({
    ...cluster,
    group: "admissionregistration.k8s.io",
    version: "v1",
    plural: `${kind.toLowerCase()}webhookconfigurations`,
    kind: `${kind}WebhookConfiguration`,
  });
const folder = mkdtempSync(path.join(tmpdir(), "virtkit-webhook-"));
let client: HttpClient;
let server: ReturnType<typeof admissionWebhook>;

beforeAll(async () => {
  const config = new KubeConfig();
  config.loadFromFile(process.env["VIRTKIT_APISERVER_KUBECONFIG"] ?? "");
  client = kubeconfigClient(config);
  await client.create(
    defineResource({ ...cluster, version: "v1", plural: "namespaces", kind: "Namespace" }),
    { metadata: { name: namespace } },
  );
  const crdResource = defineResource({
    ...cluster,
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
  });
  const [crd] = crds().filter(({ spec }) => spec.names.kind === vmis.kind);
  await applyObject(client, crdResource, crd as unknown as KubeObject, {
    fieldManager: "test",
    force: true,
  });
  const authority = await CertificateAuthority.open({
    store: new FileAuthorityStore(folder),
    trustDomain: "test.example",
  });
  const { privateKey: key, certificate: cert } = await authority.issue(apiServerIdentity(), {
    addresses: ["127.0.0.1"],
  });
  server = admissionWebhook({ key, cert });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const rules = [
    {
      apiGroups: ["kubevirt.io"],
      apiVersions: ["v1"],
      resources: [vmis.plural],
      operations: ["CREATE"],
    },
  ];
  const caBundle = Buffer.from(authority.bundle).toString("base64");
  for (const kind of ["Mutating", "Validating"] as const) {
    const url = `https://127.0.0.1:${port}/${kind === "Mutating" ? "mutate" : "validate"}`;
    const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
    const hook = {
      name: "vmis.example.com",
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      clientConfig: { url, caBundle },
      rules,
      namespaceSelector,
    };
    await client.create(hooks(kind), {
      metadata: { name: "example" },
      webhooks: [hook],
    } as KubeObject);
  }
});

afterAll(async () => {
  for (const kind of ["Mutating", "Validating"] as const)
    await client?.delete(hooks(kind), { name: "example" });
  server?.close();
  server?.closeAllConnections();
  client?.close();
  rmSync(folder, { recursive: true });
});

test("the webhook is shorter than 60 lines", () => {
  const text = readFileSync(new URL("webhook.mjs", import.meta.url), "utf8");
  expect(text.trimEnd().split("\n").length).toBeLessThan(60);
});

test("a real API server lets it default and judge VMIs, also by a custom rule", async () => {
  const vmi = (name: string, labels: object, domain: object) =>
    ({ metadata: { name, namespace, labels }, spec: { domain } }) as unknown as KubeObject;
  const domain = { devices: {}, memory: { guest: "64Mi" } };
  const made = await expectServed(() => client.create(vmis, vmi("good", { team: "a" }, domain)));
  expect(made).toMatchObject({ spec: { domain: { machine: { type: "q35" } } } });
  await expect(
    client.create(vmis, vmi("bad", { team: "a" }, { devices: {} })),
  ).rejects.toMatchObject({ status: 422 });
  await expect(client.create(vmis, vmi("nobodys", {}, domain))).rejects.toThrow("name your team");
});

/** A CustomResourceDefinition is established at once, and served a moment later. */
async function expectServed(create: () => Promise<KubeObject>): Promise<KubeObject> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await create();
    } catch (error) {
      if ((error as { status?: number }).status !== 404 || attempt > 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
