import type { Agent, RequestOptions } from "node:https";
import type { KubeConfig } from "@kubernetes/client-node";
import type { Connection, Credentials } from "./connection.ts";
import { HttpClient, type HttpClientOptions } from "./http-client.ts";
import { KubeError } from "./kube-error.ts";

/** Exec plug-ins may give credentials without an end; OIDC tokens are renewed by client-node when they are asked for. */
const credentialsLifetime = 10_000;

/**
 * The connection for the current context of a `KubeConfig` of `@kubernetes/client-node`, with all that it supports:
 * certificates, tokens, exec plug-ins, OIDC and proxies.
 */
export function kubeconfigConnection(config: KubeConfig): Connection {
  const cluster = config.getCurrentCluster();
  if (isWithoutKubeconfig(config)) {
    const message = "there is no kubeconfig; name one with $KUBECONFIG, or create ~/.kube/config";
    throw new KubeError("KUBE_INPUT_INVALID", message, { path: "current-context" });
  }
  if (!cluster) {
    const message = "current-context: names no cluster of this kubeconfig; choose another context";
    throw new KubeError("KUBE_INPUT_INVALID", message, { path: "current-context" });
  }
  return {
    server: cluster.server,
    credentialsLifetime,
    credentials: async () => {
      const options: RequestOptions = {};
      try {
        await config.applyToHTTPSOptions(options);
      } catch (cause) {
        const text = cause instanceof Error ? cause.message : String(cause);
        const message = `users: cannot get the credentials of the current context: ${text}`;
        throw new KubeError("KUBE_INPUT_INVALID", message, { path: "users", cause });
      }
      return credentialsOf(options, Boolean(cluster.proxyUrl));
    },
  };
}

/**
 * Whether `loadFromDefault` has found neither a kubeconfig nor the files of a Pod. It then invents a cluster on this host's
 * port 8080.
 */
export function isWithoutKubeconfig(config: KubeConfig): boolean {
  const { name, server } = config.getCurrentCluster() ?? {};
  const context = config.getCurrentContext();
  return [context, name, server].join() === "loaded-context,cluster,http://localhost:8080";
}

/** A client for the current context of a `KubeConfig`. */
export function kubeconfigClient(config: KubeConfig, options: HttpClientOptions = {}): HttpClient {
  return new HttpClient(kubeconfigConnection(config), options);
}

function credentialsOf(options: RequestOptions, hasProxy: boolean): Credentials {
  const { headers = {}, auth, ca, cert, key, servername, rejectUnauthorized } = options;
  const basic = auth && { authorization: `Basic ${Buffer.from(auth).toString("base64")}` };
  return {
    headers: { ...(headers as Record<string, string>), ...(basic || {}) },
    tls: {
      ca: ca as Buffer | undefined,
      cert: cert as Buffer | undefined,
      key: key as Buffer | undefined,
      servername,
      ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    },
    // Without a proxy our own connections are used, which are kept.
    ...(hasProxy && { agent: options.agent as Agent }),
  };
}
