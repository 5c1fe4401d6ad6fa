import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { createServer, type TLSSocket } from "node:tls";
import { certificateNames, names } from "@virtkit/api/names";
import { nodeRequestPath, streamProtocol, vmiUidHeader } from "@virtkit/api/subresources/node";
import type { KubeClient, KubeObject, Resource } from "@virtkit/kube";
import {
  apiServerIdentity,
  CertificateAuthority,
  type Credentials,
  clientTlsOptions,
  describeIdentity,
  FileAuthorityStore,
  nodeAgentIdentity,
  peerIdentity,
  readCertificateRequest,
  serverTlsOptions,
  vsockIdentity,
} from "@virtkit/pki";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { duplexPair } from "../testing/duplex-pair.ts";
import { sampleVmi } from "../testing/sample-vmi.ts";
import type { HeldGuest } from "./node-guests.ts";
import { serveGuests } from "./serve-guests.ts";

const nodeName = "node01";
const { trustDomain, bundle } = certificateNames(names());

/** An API server that signs what it is asked for, and keeps events. */
function signingClient(
  authority: CertificateAuthority,
  authorities: string,
): { readonly client: KubeClient; readonly events: KubeObject[]; readonly signed: string[] } {
  const events: KubeObject[] = [];
  const signed: string[] = [];
  const certificates = new Map<string, string>();
  const client = {
    create: async ({ plural }: Resource, object: KubeObject) => {
      if (plural === "events") {
        events.push(object);
        return object;
      }
      const { request } = Reflect.get(object, "spec") as { request: string };
      const asked = await readCertificateRequest(Buffer.from(request, "base64").toString());
      const certificate = await authority.sign(asked.publicKey, asked.identity);
      signed.push(describeIdentity(asked.identity));
      certificates.set(object.metadata.name ?? "", Buffer.from(certificate).toString("base64"));
      return object;
    },
    get: async ({ plural }: Resource, { name }: { readonly name: string }) =>
      plural === "configmaps"
        ? { metadata: {}, data: { [bundle.field]: authorities } }
        : { metadata: {}, status: { certificate: certificates.get(name) } },
  };
  return { client: client as unknown as KubeClient, events, signed };
}

/** An authority in its own directory. */
async function openAuthority(): Promise<CertificateAuthority> {
  const directory = mkdtempSync("/tmp/authority-");
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const store = new FileAuthorityStore(directory);
  return await CertificateAuthority.open({ store, trustDomain });
}

test("a guest that is paused by request has an event that says so", async () => {
  const authority = await openAuthority();
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

/** A guest's program that speaks TLS at the other end of what is dialled; resolves once it has seen its peer. */
async function answer(guest: Duplex, own: Credentials): Promise<TLSSocket> {
  const server = createServer(serverTlsOptions(own));
  server.emit("connection", guest);
  const [socket] = await once(server, "secureConnection");
  return socket as TLSSocket;
}

test("VSOCK ports of guests are served, with a certificate that is asked for when the first caller wants TLS", async () => {
  const authority = await openAuthority();
  const caller = await authority.issue(apiServerIdentity());
  const inGuest = await authority.issue(nodeAgentIdentity("in-the-guest"));
  const { client, signed } = signingClient(authority, caller.authorities);
  const sample = sampleVmi([], ({ spec }) => {
    spec.domain.devices = { ...spec.domain.devices, autoattachVSOCK: true };
  });
  const vmi = { ...sample, status: { nodeName, VSOCKCID: 7 } };
  const { namespace = "", name = "", uid = "" } = vmi.metadata ?? {};
  const guest = { vmi, podUid: "pod" } as unknown as HeldGuest;
  const dialled: { readonly to: string; readonly guest: Duplex }[] = [];
  await using service = serveGuests({
    ...{ client, namespace: "kubevirt", nodeName, port: 0, agent: { guest: () => guest } },
    vsock: {
      vhost: import.meta.filename,
      connect: async ({ cid, port }) => {
        const [theirs, ours] = duplexPair();
        dialled.push({ to: `${cid}:${port}`, guest: theirs });
        return ours;
      },
    },
  });
  await expect.poll(() => service.port).toBeGreaterThan(0);
  const dial = (query: Record<string, string>): WebSocket =>
    new WebSocket(
      `wss://127.0.0.1:${service.port}${nodeRequestPath({ namespace, name, subresource: "vsock", query })}`,
      streamProtocol,
      {
        ...clientTlsOptions(caller, nodeAgentIdentity(nodeName)),
        headers: { [vmiUidHeader]: uid },
      },
    );
  const plain = dial({ port: "22" });
  await once(plain, "open");
  plain.terminate();
  expect(signed).toEqual([describeIdentity(nodeAgentIdentity(nodeName))]);
  for (const port of ["23", "24"]) {
    const secure = dial({ port, tls: "true" });
    await expect.poll(() => dialled.at(-1)?.to).toBe(`7:${port}`);
    const seen = await answer(dialled.at(-1)?.guest as Duplex, inGuest);
    expect(peerIdentity(seen, inGuest, { anyOf: "vsock" })).toEqual(vsockIdentity(nodeName));
    if (secure.readyState !== WebSocket.OPEN) await once(secure, "open");
    secure.terminate();
  }
  expect(signed).toEqual(
    [nodeAgentIdentity(nodeName), vsockIdentity(nodeName)].map(describeIdentity),
  );
});
