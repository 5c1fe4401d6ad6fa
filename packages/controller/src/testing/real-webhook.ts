import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text as textOf } from "node:stream/consumers";
import { reviewMutation, type ServiceAccounts } from "@virtkit/api/admission";
import type { ClusterConfig } from "@virtkit/api/config";
import { describeError } from "@virtkit/api/observe";
import { defineResource, type KubeClient, type KubeObject } from "@virtkit/kube";
import { apiServerIdentity, CertificateAuthority, FileAuthorityStore } from "@virtkit/pki";
import { vmResources } from "../plan/vm-resources.ts";

const configurations = defineResource({
  group: "admissionregistration.k8s.io",
  version: "v1",
  plural: "mutatingwebhookconfigurations",
  kind: "MutatingWebhookConfiguration",
  namespaced: false,
});
/** All writers in a test are the user admin: the controllers, the scripts and the user. */
const isAdmin = (user: string | undefined): boolean => user === "admin";
const accounts: ServiceAccounts = {
  isKubeVirt: isAdmin,
  isHandler: isAdmin,
  isController: isAdmin,
};

/** The mutating webhook for VMs, VMIs and migrations, served to a real API server over HTTPS. */
export class RealWebhook implements AsyncDisposable {
  readonly #server: Server;
  readonly #folder: string;

  private constructor(server: Server, folder: string) {
    this.#server = server;
    this.#folder = folder;
  }

  static async start(client: KubeClient, config: ClusterConfig): Promise<RealWebhook> {
    const folder = await mkdtemp(path.join(tmpdir(), "virtkit-webhook-"));
    const store = new FileAuthorityStore(folder);
    const authority = await CertificateAuthority.open({ store, trustDomain: "test.example" });
    const addresses = ["127.0.0.1"];
    const { privateKey, certificate } = await authority.issue(apiServerIdentity(), { addresses });
    const options = { key: privateKey, cert: certificate, requestTimeout: 10_000 };
    const server = createServer(options, (request, response) => {
      void answer(request, config).then(({ code, body }) => {
        response.writeHead(code, { "content-type": "application/json" });
        response.end(body);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const caBundle = Buffer.from(authority.bundle).toString("base64");
    await client.create(
      configurations,
      configuration({ url: `https://127.0.0.1:${port}/mutate`, caBundle }, config),
    );
    return new RealWebhook(server, folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await rm(this.#folder, { recursive: true });
  }
}

/** Answers a review. Unreadable input is reported, and the API server refuses the object. */
async function answer(
  request: IncomingMessage,
  config: ClusterConfig,
): Promise<{ readonly code: number; readonly body: string }> {
  try {
    const review: unknown = JSON.parse(await textOf(request));
    const answered = reviewMutation(review, config, { accounts, marks: true });
    return { code: 200, body: JSON.stringify(answered) };
  } catch (error) {
    return { code: 400, body: JSON.stringify(describeError(error)) };
  }
}

function configuration(clientConfig: object, { names }: ClusterConfig): KubeObject {
  const { vms, vmis, migrations } = vmResources(names);
  const rule = {
    apiGroups: [names.groups.core],
    apiVersions: ["v1"],
    resources: [vms, vmis, migrations].map(({ plural }) => plural),
    operations: ["CREATE", "UPDATE"],
  };
  const webhook = {
    name: "mutate.test.example",
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    clientConfig,
    rules: [rule],
  };
  return { metadata: { name: "test" }, webhooks: [webhook] } as KubeObject;
}
