import { readFileSync } from "node:fs";
import { HttpClient } from "@virtkit/kube";
import type { Cluster } from "@virtkit/lab/cluster";

/** One request to the API server. Writes should be dry runs: a permission that is too wide then does no harm. */
export interface Attempt {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: object;
}

/** Somebody who tries requests, and learns their status codes. */
export interface Caller extends Disposable {
  try(attempt: Attempt): Promise<number>;
}

/**
 * A caller with a token of a component's own service account, as the kubelet gives it to the Pods of the component.
 * @param pod the Pod to which the token is bound, which is how the API server learns the caller's node
 */
export async function componentAccount(
  cluster: Cluster,
  account: string,
  pod?: { readonly name: string; readonly uid: string },
): Promise<Caller> {
  const boundObjectRef = pod && { apiVersion: "v1", kind: "Pod", ...pod };
  const path = `/api/v1/namespaces/kubevirt/serviceaccounts/${account}/token`;
  const spec = { expirationSeconds: 600, ...(boundObjectRef && { boundObjectRef }) };
  const { status, body } = await cluster.request(path, { method: "POST", body: { spec } });
  if (status !== 201) throw new Error(`no token for ${account}: ${JSON.stringify(body)}`);
  return callerWith(cluster, (body as { status: { token: string } }).status.token);
}

/** The administrator of the cluster, who may try everything. */
export function administrator(cluster: Cluster): Caller {
  const { users } = JSON.parse(readFileSync(cluster.kubeconfig, "utf8"));
  return callerWith(cluster, users[0].user.token);
}

function callerWith(cluster: Cluster, token: string): Caller {
  const { server, "certificate-authority-data": data } = JSON.parse(
    readFileSync(cluster.kubeconfig, "utf8"),
  ).clusters[0].cluster;
  const tls = { ca: Buffer.from(data, "base64") };
  const headers = { authorization: `Bearer ${token}` };
  const client = new HttpClient({ server, credentials: async () => ({ headers, tls }) });
  return {
    async try({ method, path, body }) {
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      const request = {
        ...{ method, path, headers: { "content-type": type } },
        ...(body && { body: JSON.stringify(body) }),
      };
      try {
        return (await client.request(request)).status;
      } catch (error) {
        const { status } = error as { status?: unknown };
        if (typeof status !== "number") throw error;
        return status;
      }
    },
    [Symbol.dispose]() {
      client.close();
    },
  };
}
