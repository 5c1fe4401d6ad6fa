import { type Names, names } from "../../../names/index.ts";
import { subresourceVersions } from "./route.ts";

/** The headers in which a front proxy names the user; the API server's ConfigMap lists them. */
export interface IdentityHeaders {
  /** The first header that a request has counts. */
  readonly user: readonly string[];
  readonly uid: readonly string[];
  readonly group: readonly string[];
  readonly extraPrefix: readonly string[];
}

/** The names that API servers use by default. */
export const defaultIdentityHeaders: IdentityHeaders = {
  user: ["X-Remote-User"],
  uid: ["X-Remote-Uid"],
  group: ["X-Remote-Group"],
  extraPrefix: ["X-Remote-Extra-"],
};

/** The question for the cluster's authorizer: the `spec` of a SubjectAccessReview. */
export interface AccessReviewSpec {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly resourceAttributes: {
    readonly namespace: string;
    readonly verb: string;
    readonly group: string;
    readonly version: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly name?: string;
  };
}

/** The parts of a request that decide who may make it. */
export interface AccessRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** By name in any case, each with all its values. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
}

/** Whether a request needs permission, and the access review that decides. */
export type AccessQuestion =
  /** Open to everybody: it only describes this server. */
  | { readonly kind: "open" }
  | { readonly kind: "review"; readonly spec: AccessReviewSpec }
  | { readonly kind: "denied"; readonly why: string };

/**
 * The access review that is needed before a request is carried out. It asks for exactly what the path names;
 * anything unknown is denied. The identity headers count only on a connection from the front proxy: the caller
 * must check that for every request that is not open.
 */
export function accessQuestion(
  { method, path, headers }: AccessRequest,
  identity: IdentityHeaders = defaultIdentityHeaders,
  { groups: { subresources } }: Pick<Names, "groups"> = names(),
): AccessQuestion {
  if (isOpenPath(path, subresources)) return { kind: "open" };
  const found = lowerCase(headers);
  const user = firstOf(found, identity.user)?.[0];
  if (!user) return denied("no header names the user");
  const groups = firstOf(found, identity.group);
  if (!groups) return denied("no header names the groups of the user");
  const verb = verbs[method];
  if (!verb) return denied(`the method ${method.slice(0, 20)} is unknown`);
  const attributes = attributesOf(path, subresources);
  if (!attributes) return denied("the path is not one of this server");
  const extra = extraOf(found, identity.extraPrefix);
  const uid = firstOf(found, identity.uid)?.[0];
  return {
    kind: "review",
    spec: {
      user,
      ...(uid ? { uid } : {}),
      groups,
      ...(Object.keys(extra).length > 0 ? { extra } : {}),
      resourceAttributes: {
        ...attributes,
        verb: attributes.name === undefined ? (pluralVerbs[verb] ?? verb) : verb,
      },
    },
  };
}

function denied(why: string): AccessQuestion {
  return { kind: "denied", why };
}

const verbs: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
});

/** If no object is named, reading and deleting mean all of them. */
const pluralVerbs: Readonly<Record<string, string | undefined>> = {
  get: "list",
  delete: "deletecollection",
};

/** Discovery, schemas, version and health, which every client may read. */
export function isOpenPath(path: string, group: string): boolean {
  const root = `/apis/${group}`;
  if (["/", "/apis", root, "/openapi/v2", "/openapi/v3", "/healthz"].includes(path)) return true;
  return subresourceVersions.some((version) =>
    [
      `${root}/${version}`,
      `${root}/${version}/version`,
      `${root}/${version}/healthz`,
      `${root}/${version}/guestfs`,
      `/openapi/v3${root}/${version}`,
    ].includes(path),
  );
}

type Attributes = Omit<AccessReviewSpec["resourceAttributes"], "verb">;

function attributesOf(path: string, ours: string): Attributes | undefined {
  const [root, apis, group, version, namespaces, namespace, resource, name, ...rest] =
    path.split("/");
  const isOurs = root === "" && apis === "apis" && group === ours && namespaces === "namespaces";
  if (!isOurs || !version || !namespace) return undefined;
  if (!subresourceVersions.some((known) => known === version)) return undefined;
  const base = { namespace, group, version };
  if (resource === "expand-vm-spec" && name === undefined) return { ...base, resource };
  if (resource !== "virtualmachines" && resource !== "virtualmachineinstances") return undefined;
  if (!name || rest.length === 0) return undefined;
  // Port and protocol are parameters; everything else is the whole rest of the path, so that nothing is cut
  // off.
  const subresource = rest[0] === "portforward" ? "portforward" : rest.join("/");
  return { ...base, resource, subresource, name };
}

type Found = ReadonlyMap<string, readonly string[]>;

function lowerCase(headers: AccessRequest["headers"]): Found {
  return new Map(
    Object.entries(headers).flatMap(([name, values]) =>
      values ? [[name.toLowerCase(), values] as const] : [],
    ),
  );
}

function firstOf(found: Found, wanted: readonly string[]): readonly string[] | undefined {
  for (const name of wanted) {
    const values = found.get(name.toLowerCase());
    if (values && values.length > 0) return values;
  }
  return undefined;
}

function extraOf(
  found: Found,
  prefixes: readonly string[],
): Readonly<Record<string, readonly string[]>> {
  const extra = new Map<string, readonly string[]>();
  for (const prefix of prefixes) {
    const start = prefix.toLowerCase();
    for (const [name, values] of found) {
      if (name.startsWith(start)) extra.set(unescaped(name.slice(start.length)), values);
    }
  }
  return Object.fromEntries(extra);
}

/** A malformed escape in a key is kept as it is, as API servers do. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
