#!/usr/bin/env node
/** Webhooks and the aggregated API of VMs. Replicas share their authority, which is in a Secret. */
import { serviceAccounts } from "@virtkit/api/admission";
import { lineLog } from "@virtkit/api/observe";
import {
  createApiServer,
  createCertificateSigner,
  SecretAuthorityStore,
} from "@virtkit/api-server";
import { inClusterClient, inClusterNamespace } from "@virtkit/kube/in-cluster";
import { followConfiguration, onRotationAsked, untilSignal } from "@virtkit/operator";
import { apiServerIdentity, CertificateAuthority } from "@virtkit/pki";

const signal = untilSignal();
const log = lineLog((line) => process.stdout.write(`${line}\n`));
const client = inClusterClient();
const namespace = await inClusterNamespace();
const configuration = await followConfiguration({ client, namespace, signal, log });
const store = new SecretAuthorityStore(client, { namespace, name: "virtkit-ca" });
const authority = await CertificateAuthority.open({ store, trustDomain: "cluster.local" });
const dnsNames = [`virt-api.${namespace}.svc`];
const accounts = serviceAccounts(namespace);
const { names } = configuration.current;
/** Then there is a new authority too, which is trusted at once and signs in an hour. */
let isRotationAsked = false;

const server = await createApiServer({
  ...{ client, namespace, log, accounts },
  config: () => configuration.current,
  credentials: async () => {
    await authority.refresh({ rotate: isRotationAsked });
    isRotationAsked = false;
    return await authority.issue(apiServerIdentity(), { dnsNames });
  },
});
onRotationAsked(configuration, () => {
  isRotationAsked = true;
  void server.renew();
});
log.info({ port: server.port }, "the API server of VMs listens");
// Node agents get their certificates by request: only this program has the authority's key.
const signer = createCertificateSigner({ client, authority, namespace, accounts, names, log });
await signer.run({ signal });
await server[Symbol.asyncDispose]();
