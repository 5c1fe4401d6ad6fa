import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Connection } from "./connection.ts";
import { HttpClient, type HttpClientOptions } from "./http-client.ts";
import { KubeError } from "./kube-error.ts";

/** Where a Pod finds its API server and its account. */
export interface InClusterOptions extends HttpClientOptions {
  /** The directory with `token`, `ca.crt` and `namespace`. Default: where Kubernetes mounts it. */
  readonly folder?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";
/** The kubelet renews a token when a fifth of its life, at least two minutes, is left. */
const tokenLifetime = 60_000;

/** The connection of a process in a Pod, with the account of the Pod. Its token is read again as it is renewed. */
export function inClusterConnection({
  folder = serviceAccountFolder,
  env = process.env,
}: Pick<InClusterOptions, "folder" | "env"> = {}): Connection {
  const host = variable(env, "KUBERNETES_SERVICE_HOST");
  const port = variable(env, "KUBERNETES_SERVICE_PORT");
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    credentialsLifetime: tokenLifetime,
    credentials: async () => {
      const [token, ca] = await Promise.all([read(folder, "token"), read(folder, "ca.crt")]);
      return { headers: { authorization: `Bearer ${token.trim()}` }, tls: { ca } };
    },
  };
}

/** A client for a process in a Pod; it loads nothing of `@kubernetes/client-node`. */
export function inClusterClient({ folder, env, ...options }: InClusterOptions = {}): HttpClient {
  return new HttpClient(inClusterConnection({ folder, env }), options);
}

/** The namespace of the Pod that this process is in. */
export async function inClusterNamespace({
  folder = serviceAccountFolder,
}: Pick<InClusterOptions, "folder"> = {}): Promise<string> {
  return (await read(folder, "namespace")).trim();
}

function variable(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const value = env[name];
  if (value) return value;
  const message = `${name}: not set; this process does not run in a Pod; use a kubeconfig instead`;
  throw new KubeError("KUBE_INPUT_INVALID", message, { path: name });
}

async function read(folder: string, file: string): Promise<string> {
  const name = path.join(folder, file);
  try {
    return await readFile(name, "utf8");
  } catch (cause) {
    const message = `${name}: cannot be read; does the Pod mount its service account token?`;
    throw new KubeError("KUBE_INPUT_INVALID", message, { path: name, cause });
  }
}
