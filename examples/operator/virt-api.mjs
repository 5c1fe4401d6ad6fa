#!/usr/bin/env node
/** Webhooks and the aggregated API of VMs. Replicas share one certificate authority, which is in a Secret. */
import { serviceAccounts } from "@virtkit/api/admission";
import { lineLog } from "@virtkit/api/observe";
import {
  createApiServer,
  createCertificateSigner,
  SecretAuthorityStore,
} from "@virtkit/api-server";
import { inClusterClient, inClusterNamespace } from "@virtkit/kube/in-cluster";
import { prometheusMetrics } from "@virtkit/kube/prometheus";
import { followConfiguration, onRotationAsked, serveHealth, untilSignal } from "@virtkit/operator";
import { apiServerIdentity, CertificateAuthority } from "@virtkit/pki";
import { Registry } from "prom-client";

const signal = untilSignal();
const log = lineLog((line) => process.stdout.write(`${line}\n`));
const registry = new Registry();
const metrics = prometheusMetrics(registry);
const client = inClusterClient({ metrics });
const namespace = await inClusterNamespace();
const configuration = await followConfiguration({ client, namespace, signal, log });
const store = new SecretAuthorityStore(client, { namespace, name: "virtkit-ca" });
const authority = await CertificateAuthority.open({ store, trustDomain: "cluster.local" });
const dnsNames = [`virt-api.${namespace}.svc`];
const accounts = serviceAccounts(namespace);
const { names } = configuration.current;
/** Whether a rotation was requested. It adds an authority, which is trusted at once and signs after an hour. */
let isRotationAsked = false;

const server = await createApiServer({
  ...{ client, namespace, log, metrics, accounts },
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
// The probes are on the port that kube-apiserver uses; this one is for Prometheus.
const scraped = await serveHealth(() => [], { port: 8080, metrics: () => registry.metrics() });
// Node agents get their certificates by request: only this program has the authority's key.
const signer = createCertificateSigner({ client, authority, namespace, accounts, names, log });
await signer.run({ signal });
await scraped[Symbol.asyncDispose]();
await server[Symbol.asyncDispose]();
