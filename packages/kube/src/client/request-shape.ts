/** What a request is about, in few words: labels of a metric, of which there are only so many. */
export interface RequestShape {
  /** Such as `LIST`, `WATCH` or `PATCH`; the HTTP method if the path is not that of a resource. */
  readonly verb: string;
  /** As `pods` or `pods/status`; empty if the path is not of a resource. */
  readonly resource: string;
  /** The path without names: `/api/v1/namespaces/{namespace}/pods/{name}`. */
  readonly url: string;
}

const verbs: Readonly<Record<string, string>> = { POST: "CREATE", PUT: "UPDATE" };

/** Reads the shape of a request from its method and path. Never throws: paths may be anybody's. */
export function requestShape(method: string, path: string): RequestShape {
  const [pathname = "", query = ""] = path.split("?", 2);
  const parts = pathname.split("/").slice(1);
  const groupParts = parts[0] === "api" ? 2 : parts[0] === "apis" ? 3 : parts.length;
  const rest = parts.slice(groupParts);
  // The namespaces themselves are a resource, too.
  const isNamespaced = rest[0] === "namespaces" && rest.length > 2;
  const [plural, name, ...subresource] = isNamespaced ? rest.slice(2) : rest;
  if (plural === undefined) return { verb: method, resource: "", url: pathname };
  const shown = [
    ...parts.slice(0, groupParts),
    ...(isNamespaced ? ["namespaces", "{namespace}"] : []),
    ...[plural, ...(name === undefined ? [] : ["{name}"]), ...subresource.slice(0, 1)],
  ];
  const all = query.split("&").includes("watch=true") ? "WATCH" : "LIST";
  const read = name === undefined ? all : method;
  return {
    verb: verbs[method] ?? (method === "GET" ? read : method),
    resource: [plural, ...subresource.slice(0, 1)].join("/"),
    url: `/${shown.join("/")}`,
  };
}
