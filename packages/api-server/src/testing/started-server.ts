import { type Agent, request } from "node:https";
import { clusterConfig } from "@virtkit/api/config";
import { crds } from "@virtkit/api/crd";
import { at } from "@virtkit/api/shape";
import type { KubeClient, KubeObject } from "@virtkit/kube";
import {
  type AuthorityStore,
  apiServerIdentity,
  CertificateAuthority,
  nodeAgentIdentity,
  type StoredAuthorities,
} from "@virtkit/pki";
import { InProcessApiServer } from "@virtkit/testing/api-server";
import WebSocket from "ws";
import { type ApiServer, type ApiServerOptions, createApiServer } from "../create-api-server.ts";
import { NodeSide } from "./node-side.ts";
import { TestAuthority, type TestCertificate } from "./test-authority.ts";

/** A store in memory. */
export class MemoryAuthorityStore implements AuthorityStore {
  #stored: StoredAuthorities | undefined;
  #revision = 0;

  async read(): Promise<StoredAuthorities | undefined> {
    return this.#stored;
  }

  async swap(content: string, revision: string | undefined): Promise<boolean> {
    if (this.#stored?.revision !== revision) return false;
    this.#revision += 1;
    this.#stored = { content, revision: String(this.#revision) };
    return true;
  }
}

/** An answer to a request. */
export interface TestAnswer {
  readonly code: number;
  readonly text: string;
  readonly json: unknown;
}

/** The user of a request, as a front proxy reports it. */
export const alice = { "X-Remote-User": "alice", "X-Remote-Group": "devs" };

const proxyRules = {
  allowedNames: ["front-proxy-client"],
  headers: {
    user: ["X-Remote-User"],
    uid: ["X-Remote-Uid"],
    group: ["X-Remote-Group"],
    extraPrefix: ["X-Remote-Extra-"],
  },
};

/** Where kube-apiserver says who its front proxy is. */
export function frontProxyConfigMap({ certificate }: TestAuthority): KubeObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "kube-system", name: "extension-apiserver-authentication" },
    data: {
      "requestheader-client-ca-file": certificate,
      "requestheader-allowed-names": JSON.stringify(proxyRules.allowedNames),
    },
  } as KubeObject;
}

/** A server with a cluster in this process, a front proxy and one node, for tests. */
export class StartedServer implements AsyncDisposable {
  readonly cluster: InProcessApiServer;
  readonly server: ApiServer;
  readonly node: NodeSide;
  readonly authority: CertificateAuthority;
  readonly frontProxy: TestAuthority;
  readonly proxyCertificate: TestCertificate;
  /** Access reviews that were requested; the answer to the next ones, or a function that returns it. */
  readonly reviews: unknown[];
  access: { allow: unknown };

  private constructor(
    parts: Pick<
      StartedServer,
      | "cluster"
      | "server"
      | "node"
      | "authority"
      | "frontProxy"
      | "proxyCertificate"
      | "reviews"
      | "access"
    >,
  ) {
    this.cluster = parts.cluster;
    this.server = parts.server;
    this.node = parts.node;
    this.authority = parts.authority;
    this.frontProxy = parts.frontProxy;
    this.proxyCertificate = parts.proxyCertificate;
    this.reviews = parts.reviews;
    this.access = parts.access;
  }

  /** @param isFollowed whether the server reads who the front proxy is, as it does in a cluster */
  static async start(
    options: Partial<ApiServerOptions> = {},
    { isFollowed = false }: { readonly isFollowed?: boolean } = {},
  ): Promise<StartedServer> {
    const cluster = new InProcessApiServer();
    for (const crd of crds()) cluster.seedByKind(crd as never);
    const reviews: unknown[] = [];
    const access: { allow: unknown } = { allow: { allowed: true } };
    const client = withReviews(cluster.client("api-server"), reviews, access);
    const authority = await CertificateAuthority.open({
      store: new MemoryAuthorityStore(),
      trustDomain: "test.example",
    });
    const frontProxy = await TestAuthority.create("front-proxy-ca");
    if (isFollowed) cluster.seedByKind(frontProxyConfigMap(frontProxy) as never);
    const node = await NodeSide.start(await authority.issue(nodeAgentIdentity("node01")));
    const server = await createApiServer({
      client,
      config: () => clusterConfig({}),
      credentials: () =>
        authority.issue(apiServerIdentity(), { dnsNames: ["virt-api.kubevirt.svc"] }),
      ...(isFollowed ? {} : { frontProxy: { ...proxyRules, authorities: frontProxy.certificate } }),
      nodeAgentAddress: async (name) => (name === "node01" ? "127.0.0.1" : undefined),
      nodeAgentPort: node.port,
      bundles: false,
      listen: { host: "127.0.0.1", port: 0 },
      addressFault: () => undefined,
      ...options,
    });
    const proxyCertificate = await frontProxy.issue("front-proxy-client");
    return new StartedServer({
      cluster,
      server,
      node,
      authority,
      frontProxy,
      proxyCertificate,
      reviews,
      access,
    });
  }

  /** Sends a request, by default as the front proxy for alice. */
  ask(
    method: string,
    path: string,
    {
      body,
      headers = alice,
      certificate = this.proxyCertificate,
      port = this.server.port,
      agent = false,
    }: {
      readonly body?: string | Buffer;
      readonly headers?: Readonly<Record<string, string>>;
      readonly certificate?: TestCertificate | null;
      /** Of another server, with a certificate of the same authority. */
      readonly port?: number;
      /** Keeps connections. Default: each request has its own. */
      readonly agent?: Agent | false;
    } = {},
  ): Promise<TestAnswer> {
    return new Promise((resolve, reject) => {
      const call = request(
        {
          ...this.#connection(certificate),
          port,
          method,
          path,
          headers: { ...headers },
          agent,
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("end", () =>
            resolve({ code: response.statusCode ?? 0, text, json: jsonOf(text) }),
          );
          response.on("error", reject);
        },
      );
      call.on("error", reject);
      call.end(body);
    });
  }

  /** A path of a subresource. */
  path(rest: string): string {
    return `/apis/subresources.kubevirt.io/v1/namespaces/default/${rest}`;
  }

  /** Requests a stream; resolves with the open socket, or with the code of the refusal. */
  stream(
    rest: string,
    { headers = alice, protocol = "plain.kubevirt.io" } = {},
  ): Promise<WebSocket | number> {
    const socket = new WebSocket(
      `wss://127.0.0.1:${this.server.port}${this.path(rest)}`,
      protocol,
      {
        ...this.#connection(this.proxyCertificate),
        headers,
        perMessageDeflate: false,
      },
    );
    return new Promise((resolve, reject) => {
      socket.once("open", () => resolve(socket));
      socket.once("unexpected-response", (_request, response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      socket.once("error", reject);
    });
  }

  #connection(certificate: TestCertificate | null): object {
    return {
      host: "127.0.0.1",
      port: this.server.port,
      servername: "virt-api.kubevirt.svc",
      ca: this.authority.bundle,
      ...(certificate ? { cert: certificate.certificate, key: certificate.privateKey } : {}),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.node[Symbol.asyncDispose]();
  }
}

function withReviews(
  inner: KubeClient,
  reviews: unknown[],
  access: { allow: unknown },
): KubeClient {
  const create: KubeClient["create"] = async (resource, object, options) => {
    if (resource.plural !== "subjectaccessreviews") return inner.create(resource, object, options);
    reviews.push(at(object, "spec"));
    if (access.allow instanceof Error) throw access.allow;
    const status = typeof access.allow === "function" ? access.allow(object) : access.allow;
    return { ...object, status } as KubeObject as typeof object;
  };
  return new Proxy(inner, {
    get: (target, key) => {
      if (key === "create") return create;
      const value = Reflect.get(target, key) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
