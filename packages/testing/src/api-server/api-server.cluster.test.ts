import { readFileSync } from "node:fs";
import { HttpClient, isAlreadyExists, isNotFound, type KubeClient } from "@virtkit/kube";
import { afterAll, beforeAll, describe, test, vi } from "vitest";
import { definitions, namespaces, widgetDefinition, widgets } from "./testing/server-check.ts";
import { serverChecks } from "./testing/server-checks.ts";

let client: KubeClient;
let count = 0;

/** The server that this tier has started; its kubeconfig is JSON. */
function connect(): KubeClient {
  const path = process.env["VIRTKIT_APISERVER_KUBECONFIG"] ?? "";
  const config = JSON.parse(readFileSync(path, "utf8")) as {
    clusters: { cluster: { server: string; "certificate-authority": string } }[];
    users: { user: { token: string } }[];
  };
  const [{ cluster } = { cluster: undefined }] = config.clusters;
  const [{ user } = { user: undefined }] = config.users;
  if (!cluster || !user) throw new Error(`${path} names no cluster and user`);
  const ca = readFileSync(cluster["certificate-authority"], "utf8");
  const credentials = { tls: { ca }, headers: { authorization: `Bearer ${user.token}` } };
  return new HttpClient({ server: cluster.server, credentials: async () => credentials });
}

beforeAll(async () => {
  client = connect();
  await client.create(definitions, widgetDefinition).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  // A definition is served some time after it was stored.
  await vi.waitFor(() => client.list(widgets), { timeout: 30_000, interval: 100 });
});

afterAll(async () => {
  const { name = "" } = widgetDefinition.metadata;
  await client.delete(definitions, { name }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
});

describe("a real API server", () => {
  test.each(serverChecks)("$name", async ({ check }) => {
    const namespace = `virtkit-check-${++count}`;
    await client.create(namespaces, { metadata: { name: namespace } });
    await check({ client, namespace });
    await client.delete(namespaces, { name: namespace });
  });
});
