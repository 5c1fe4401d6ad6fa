import { readFileSync } from "node:fs";
import { request } from "node:https";

/** One request to an API server. */
export interface ApiRequest {
  /** Default: GET */
  readonly method?: string;
  readonly body?: unknown;
  /** Default: application/json */
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
}

/** An answer of the API server: any status, and the object in the body. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Asks the API server that a kubeconfig of this lab names. Rejects only if there is no answer. */
export async function apiRequest(
  kubeconfig: string,
  path: string,
  { method = "GET", body, contentType = "application/json", signal }: ApiRequest = {},
): Promise<ApiAnswer> {
  const { clusters, users } = JSON.parse(readFileSync(kubeconfig, "utf8")) as Kubeconfig;
  const { server, "certificate-authority-data": data } = clusters[0].cluster;
  const headers = { authorization: `Bearer ${users[0].user.token}`, "content-type": contentType };
  const ca = Buffer.from(data, "base64");
  const options = { method, headers, ca, agent: false, timeout: 60_000 };
  return await new Promise((resolve, reject) => {
    const call = request(`${server}${path}`, { ...options, signal }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, body: parsed(text) });
      });
    });
    call.once("error", reject);
    call.once("timeout", () => call.destroy(new Error(`${method} ${path}: no answer in 60 s`)));
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** A kubeconfig as this package writes it. */
interface Kubeconfig {
  readonly clusters: readonly [
    {
      readonly cluster: { readonly server: string; readonly "certificate-authority-data": string };
    },
  ];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}

/** Some answers are text: `ok` of /readyz. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
