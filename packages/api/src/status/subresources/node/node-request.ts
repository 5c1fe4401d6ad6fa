import { ApiError } from "../../../api-error.ts";
import { isNodeSubresource, type NodeSubresource, nodeRoutes } from "./node-route.ts";

/** A request of the API server to a node agent. */
export interface NodeRequest {
  readonly namespace: string;
  readonly name: string;
  readonly subresource: NodeSubresource;
  /** Parameters of the query, each once. */
  readonly query: Readonly<Record<string, string>>;
}

/** A request that matches no route. */
export interface UnroutedRequest {
  readonly code: 400 | 404 | 405;
  readonly message: string;
}

/** No namespace and name of Kubernetes is longer, and neither is any of our paths. */
const maxTarget = 2048;
const segment = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/**
 * The path, with its query, under which a node agent serves a subresource of a VMI.
 *
 * @throws ApiError `API_NAME_INVALID` if the namespace or name is not valid in Kubernetes.
 *
 * @example
 * nodeRequestPath({ namespace: "ns", name: "vm", subresource: "vsock", query: { port: "22", tls: "true" } });
 * // "/v1/namespaces/ns/virtualmachineinstances/vm/vsock?port=22&tls=true"
 */
export function nodeRequestPath({ namespace, name, subresource, query }: NodeRequest): string {
  for (const [path, value] of Object.entries({ namespace, name })) {
    if (segment.test(value)) continue;
    const shown = JSON.stringify(value.slice(0, 80));
    throw new ApiError("API_NAME_INVALID", `${path} is ${shown}; use a valid Kubernetes name`);
  }
  const path = `/v1/namespaces/${namespace}/virtualmachineinstances/${name}/${subresource}`;
  const parameters = Object.entries(query)
    .map((pair) => pair.map(encodeURIComponent).join("="))
    .join("&");
  return parameters ? `${path}?${parameters}` : path;
}

/**
 * What a request asks for: the inverse of {@link nodeRequestPath}. Never throws. Unknown parameters are ignored; if
 * one occurs twice, the first counts.
 */
export function parseNodeRequest(method: string, target: string): NodeRequest | UnroutedRequest {
  if (target.length > maxTarget) {
    return { code: 400, message: `the path is longer than ${maxTarget} characters` };
  }
  const [path = "", ...rest] = target.split("?");
  const parts = path.split("/");
  const [root, version, namespaces, namespace = "", kind, name = "", ...sub] = parts;
  const subresource = sub.join("/");
  const routed =
    root === "" &&
    version === "v1" &&
    namespaces === "namespaces" &&
    kind === "virtualmachineinstances" &&
    segment.test(namespace) &&
    segment.test(name) &&
    isNodeSubresource(subresource);
  if (!routed) {
    return {
      code: 404,
      message: `${JSON.stringify(path.slice(0, 200))} is not a path of this server`,
    };
  }
  const route = nodeRoutes[subresource];
  if (method !== route.method) {
    return { code: 405, message: `${subresource} takes ${route.method}, not ${method}` };
  }
  const given = readQuery(rest.join("?"));
  const query = (route.query ?? []).flatMap((key) => {
    const value = given.get(key);
    return value === undefined ? [] : [[key, value] as const];
  });
  return { namespace, name, subresource, query: Object.fromEntries(query) };
}

function readQuery(text: string): ReadonlyMap<string, string> {
  const read = new Map<string, string>();
  for (const parameter of text.split("&")) {
    const [key = "", ...value] = parameter.split("=").map(decode);
    if (!read.has(key)) read.set(key, value.join("="));
  }
  return read;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    // Not an escape: its meaning is checked where it is used.
    return text;
  }
}
