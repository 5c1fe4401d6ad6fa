import { type Names, names } from "../../../names/index.ts";

/** The resources with subresources, and the one that is itself a verb. */
export type SubresourceParent = "virtualmachines" | "virtualmachineinstances" | "expand-vm-spec";

/** One route: what the path names, and the method. */
export interface SubresourceRoute {
  readonly resource: SubresourceParent;
  /** As in a role: `vnc/screenshot`. Empty for `expand-vm-spec`. */
  readonly subresource: string;
  readonly method: "GET" | "PUT";
  /** Whether the request becomes a WebSocket. */
  readonly isStream: boolean;
  /** Whether a body must be declared as JSON. */
  readonly asksForJson: boolean;
}

/** Versions of the group; both have the same routes. The first is preferred. */
export const subresourceVersions = ["v1", "v1alpha3"] as const;

/** A version of the group. */
export type SubresourceVersion = (typeof subresourceVersions)[number];

const stream = { method: "GET", isStream: true, asksForJson: false } as const;
const read = { method: "GET", isStream: false, asksForJson: false } as const;
const put = { method: "PUT", isStream: false, asksForJson: false } as const;
const graph = { method: "GET", isStream: false, asksForJson: true } as const;
const expand = { method: "PUT", isStream: false, asksForJson: true } as const;

type Shape = Omit<SubresourceRoute, "resource" | "subresource">;

const table: Readonly<Record<SubresourceParent, Readonly<Record<string, Shape>>>> = {
  "expand-vm-spec": { "": expand },
  virtualmachines: {
    start: put,
    stop: put,
    restart: put,
    migrate: put,
    addvolume: put,
    removevolume: put,
    memorydump: put,
    removememorydump: put,
    "evacuate/cancel": put,
    "expand-spec": read,
    objectgraph: graph,
    portforward: stream,
  },
  virtualmachineinstances: {
    console: stream,
    vnc: stream,
    "vnc/screenshot": read,
    usbredir: stream,
    vsock: stream,
    portforward: stream,
    pause: put,
    unpause: put,
    freeze: put,
    unfreeze: put,
    softreboot: put,
    reset: put,
    backup: put,
    "redefine-checkpoint": put,
    addvolume: put,
    removevolume: put,
    "evacuate/cancel": put,
    guestosinfo: read,
    userlist: read,
    filesystemlist: read,
    objectgraph: graph,
    "sev/fetchcertchain": read,
    "sev/querylaunchmeasurement": read,
    "sev/setupsession": put,
    "sev/injectlaunchsecret": put,
  },
};

/** Every route. */
export const subresourceRoutes: readonly SubresourceRoute[] = Object.entries(table).flatMap(
  ([resource, shapes]) =>
    Object.entries(shapes).map(([subresource, shape]) => ({
      resource: resource as SubresourceParent,
      subresource,
      ...shape,
    })),
);

/** A request that matches a route. */
export interface RoutedRequest {
  readonly route: SubresourceRoute;
  readonly version: SubresourceVersion;
  readonly namespace: string;
  /** Empty for `expand-vm-spec`. */
  readonly name: string;
  /** What follows `portforward`: the port, and the protocol if given. */
  readonly parameters: readonly string[];
}

/** Why no route matches a request. */
export interface UnroutedSubresource {
  readonly code: 404 | 405;
  readonly message: string;
}

/** The characters of a Kubernetes namespace or name. None of them needs escaping. */
const segment = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/**
 * The route of a request, by its path without the query. The path must match exactly: an escape, an empty part
 * or a trailing slash does not. Never throws.
 *
 * @example
 * routeSubresource("PUT", "/apis/subresources.kubevirt.io/v1/namespaces/ns/virtualmachines/vm/start");
 */
export function routeSubresource(
  method: string,
  path: string,
  { groups }: Pick<Names, "groups"> = names(),
): RoutedRequest | UnroutedSubresource {
  const [root, apis, group, version, namespaces, namespace = "", resource, ...rest] =
    path.split("/");
  const isOurs =
    root === "" &&
    apis === "apis" &&
    group === groups.subresources &&
    isVersion(version) &&
    namespaces === "namespaces" &&
    segment.test(namespace);
  const found = isOurs ? routeOf(resource, rest) : undefined;
  if (!found || !isVersion(version)) {
    const shown = JSON.stringify(path.slice(0, 200));
    return { code: 404, message: `${shown} is not a path of this server` };
  }
  if (method !== found.route.method) {
    return { code: 405, message: `the method is ${method}; use ${found.route.method}` };
  }
  return { ...found, version, namespace };
}

function routeOf(
  resource: string | undefined,
  [name = "", ...rest]: readonly string[],
): Pick<RoutedRequest, "route" | "name" | "parameters"> | undefined {
  if (resource === "expand-vm-spec" && name === "" && rest.length === 0) {
    return { route: { resource, subresource: "", ...expand }, name: "", parameters: [] };
  }
  if (resource !== "virtualmachines" && resource !== "virtualmachineinstances") return undefined;
  const isForward = rest[0] === "portforward" && (rest.length === 2 || rest.length === 3);
  const subresource = isForward ? "portforward" : rest.join("/");
  if (!isForward && subresource === "portforward") return undefined;
  const shapes = table[resource];
  const shape = Object.hasOwn(shapes, subresource) ? shapes[subresource] : undefined;
  if (!shape || !segment.test(name)) return undefined;
  const parameters = isForward ? rest.slice(1) : [];
  return { route: { resource, subresource, ...shape }, name, parameters };
}

function isVersion(version: string | undefined): version is SubresourceVersion {
  return subresourceVersions.some((known) => known === version);
}
