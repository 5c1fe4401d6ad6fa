import { KubeError } from "./kube-error.ts";
import type { Resource } from "./resource.ts";

/** What a path is made of. */
export interface PathParts {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** The path of a resource, of one of its objects, or of a subresource of that object. */
export function requestPath(
  resource: Resource,
  { namespace, name, subresource }: PathParts,
): string {
  const { group, version, plural, kind, namespaced } = resource;
  const parts = group === "" ? ["api", version] : ["apis", group, version];
  if (namespace !== undefined && namespace !== "") {
    if (!namespaced)
      throw invalid("namespace", `${kind} is not namespaced; leave the namespace out`);
    parts.push("namespaces", namespace);
  } else if (namespaced && name !== undefined) {
    throw invalid("namespace", `a ${kind} needs a namespace; none was given for "${name}"`);
  }
  parts.push(plural);
  if (name !== undefined) parts.push(name);
  if (subresource !== undefined) {
    if (name === undefined)
      throw invalid("name", `"${subresource}" belongs to one ${kind}; name it`);
    parts.push(...subresource.split("/"));
  }
  return `/${parts.map(segment).join("/")}`;
}

/** The given parameters as `?a=b`; empty if there are none. */
export function queryOf(
  parameters: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  // Made only if it is needed: most writes have no parameter.
  let query: URLSearchParams | undefined;
  for (const name in parameters) {
    const value = parameters[name];
    if (value === undefined) continue;
    query ??= new URLSearchParams();
    query.set(name, String(value));
  }
  return query ? `?${query}` : "";
}

// A name with a slash or dots would be the path of something else.
function segment(part: string): string {
  if (part === "" || part === "." || part === ".." || part.includes("/")) {
    throw invalid("path", `"${part}" cannot be part of a path; it must be a name`);
  }
  return encodeURIComponent(part);
}

function invalid(path: string, message: string): KubeError {
  return new KubeError("KUBE_INPUT_INVALID", `${path}: ${message}`, { path });
}
