import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { certificateNames, names } from "@virtkit/api/names";
import { nodeRequestPath, vmiUidHeader } from "@virtkit/api/subresources/node";
import type { KubeClient, KubeObject, Resource } from "@virtkit/kube";
import {
  apiServerIdentity,
  CertificateAuthority,
  clientTlsOptions,
  FileAuthorityStore,
  nodeAgentIdentity,
  readCertificateRequest,
} from "@virtkit/pki";
import { expect, onTestFinished, test } from "vitest";
import { sampleVmi } from "../testing/sample-vmi.ts";
import type { HeldGuest } from "./node-guests.ts";
import { serveGuests } from "./serve-guests.ts";

const nodeName = "node01";
const { trustDomain, bundle } = certificateNames(names());

/** An API server that signs what it is asked for, and keeps events. */
function signingClient(
  authority: CertificateAuthority,
  authorities: string,
): { readonly client: KubeClient; readonly events: KubeObject[] } {
  const events: KubeObject[] = [];
  let certificate = "";
  const client = {
    create: async ({ plural }: Resource, object: KubeObject) => {
      if (plural === "events") events.push(object);
      else {
        const { request } = Reflect.get(object, "spec") as { request: string };
        const asked = await readCertificateRequest(Buffer.from(request, "base64").toString());
        const signed = await authority.sign(asked.publicKey, nodeAgentIdentity(nodeName));
        certificate = Buffer.from(signed).toString("base64");
      }
      return object;
    },
    get: async ({ plural }: Resource) =>
      plural === "configmaps"
        ? { metadata: {}, data: { [bundle.field]: authorities } }
        : { metadata: {}, status: { certificate } },
  };
  return { client: client as unknown as KubeClient, events };
}

test("a guest that is paused by request has an event that says so", async () => {
  const directory = mkdtempSync("/tmp/authority-");
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const store = new FileAuthorityStore(directory);
  const authority = await CertificateAuthority.open({ store, trustDomain });
  const caller = await authority.issue(apiServerIdentity());
  const { client, events } = signingClient(authority, caller.authorities);

  const vmi = { ...sampleVmi(), status: { nodeName } };
  const { namespace = "", name = "", uid = "" } = vmi.metadata ?? {};
  const guest = { vmi, podUid: "pod", client: { pause: async () => {} } } as unknown as HeldGuest;
  await using service = serveGuests({
    ...{ client, namespace: "kubevirt", nodeName, port: 0, agent: { guest: () => guest } },
  });
  await expect.poll(() => service.port).toBeGreaterThan(0);
  const request = httpsRequest({
    ...clientTlsOptions(caller, nodeAgentIdentity(nodeName)),
    ...{ host: "127.0.0.1", port: service.port, method: "PUT", agent: false },
    path: nodeRequestPath({ namespace, name, subresource: "pause", query: {} }),
    headers: { [vmiUidHeader]: uid },
  });
  request.end();
  const [response] = await once(request, "response");
  response.resume();
  expect(response.statusCode).toBe(202);
  await expect.poll(() => events).toHaveLength(1);
  expect(events).toMatchObject([
    { involvedObject: { kind: "VirtualMachineInstance", name, uid }, reason: "Paused" },
  ]);
});
