import type { StatusCause } from "@virtkit/kube";
import { isJsonObject, sameJson } from "./json.ts";
import type { AnyObject, Kind } from "./kind.ts";
import type { ServerState } from "./server-state.ts";
import { conflict, invalid, notFound, statusError } from "./status-error.ts";

/** Refuses a create if the namespace is missing or is being deleted. */
export function checkNamespace(
  server: ServerState,
  kind: Kind,
  { namespace, name = "" }: { namespace?: string; name?: string },
): void {
  if (!kind.resource.namespaced || !namespace) return;
  const namespaces = server.kinds.find(({ resource }) => resource.plural === "namespaces");
  const found = namespaces && server.table(namespaces).get(`/${namespace}`);
  if (!found) throw notFound("namespaces", namespace);
  if (!found.metadata.deletionTimestamp) return;
  throw statusError({
    status: 403,
    reason: "Forbidden",
    message: `${kind.resource.plural} "${name}" is forbidden: namespace ${namespace} is being terminated`,
    causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }],
  });
}

/** A new object as it is stored, before admission. */
export function newObject(server: ServerState, kind: Kind, given: AnyObject): AnyObject {
  const { generateName, ...metadata } = given.metadata;
  const name = metadata.name ?? (generateName ? generateName + suffix(server) : undefined);
  const { plural, kind: named, group, version } = kind.resource;
  if (!name) throw invalid(plural, "", [required("metadata.name")]);
  if (metadata.resourceVersion) {
    const message = "resourceVersion should not be set on objects to be created";
    throw statusError({ status: 500, reason: "InternalError", message });
  }
  const { status, ...rest } = given;
  const object: AnyObject = {
    ...rest,
    ...(status && !kind.statusSubresource ? { status } : {}),
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind: named,
    metadata: {
      ...withoutServerFields(metadata),
      name,
      ...(generateName ? { generateName } : {}),
      uid: server.random.uuid(),
      creationTimestamp: server.timestamp(),
      ...(kind.counted ? { generation: 1 } : {}),
    },
  };
  return kind.created ? kind.created(object) : object;
}

/** The stored object after an update. `status` says whether the update came through the status subresource. */
export function changedObject(
  kind: Kind,
  previous: AnyObject,
  given: AnyObject,
  subresource: string | undefined,
): AnyObject {
  const { plural } = kind.resource;
  const { uid, resourceVersion } = given.metadata;
  const name = previous.metadata.name ?? "";
  if (uid !== undefined && uid !== previous.metadata.uid) {
    throw conflict(plural, name, `it is ${previous.metadata.uid}, and ${uid} was meant`);
  }
  if (resourceVersion === undefined && !kind.unconditionalUpdate) {
    const field = "metadata.resourceVersion";
    const message = "must be specified for an update";
    throw invalid(plural, name, [{ reason: "FieldValueInvalid", field, message }]);
  }
  if (resourceVersion !== undefined && resourceVersion !== previous.metadata.resourceVersion) {
    throw conflict(plural, name, "the object has been modified; read it again");
  }
  const next =
    subresource === "status" ? withStatus(kind, previous, given) : withRest(kind, previous, given);
  const updated = kind.updated ? kind.updated(next, previous) : next;
  if (!kind.counted || sameJson(counted(updated), counted(previous))) return updated;
  const generation = (previous.metadata.generation ?? 0) + 1;
  return { ...updated, metadata: { ...updated.metadata, generation } };
}

/** Through `status` only the status changes, and for kinds of Kubernetes itself labels and annotations. */
function withStatus(kind: Kind, previous: AnyObject, given: AnyObject): AnyObject {
  const { status: _, ...rest } = previous;
  const { labels, annotations } = given.metadata;
  const metadata = kind.statusTakesMetadata
    ? { ...previous.metadata, labels, annotations }
    : previous.metadata;
  return { ...rest, metadata, ...(given.status ? { status: given.status } : {}) } as AnyObject;
}

function withRest(kind: Kind, previous: AnyObject, given: AnyObject): AnyObject {
  const { name, namespace, uid, creationTimestamp, deletionTimestamp, generation } =
    previous.metadata;
  const { deletionGracePeriodSeconds, generateName } = previous.metadata;
  return {
    ...given,
    status: kind.statusSubresource ? previous.status : given.status,
    apiVersion: previous.apiVersion,
    kind: previous.kind,
    metadata: Object.assign(withoutServerFields(given.metadata), {
      ...{ name, namespace, uid, creationTimestamp, generation, generateName },
      ...{ deletionTimestamp, deletionGracePeriodSeconds },
    }),
  } as AnyObject;
}

/** What counts for the generation: all but metadata and status. */
function counted({ metadata: _, status: __, ...rest }: AnyObject): unknown {
  return rest;
}

const serverFields: ReadonlySet<string> = new Set([
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "managedFields",
]);

/** Metadata without what only the server sets. A loop: every write comes here. */
function withoutServerFields(metadata: AnyObject["metadata"]): AnyObject["metadata"] {
  const rest: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(metadata)) {
    if (!serverFields.has(key)) rest[key] = value;
  }
  return rest;
}

/** What is wrong with an object in the form that a server reports. */
export function checkObject(kind: Kind, object: AnyObject, previous: AnyObject | undefined): void {
  const { name = "", namespace } = object.metadata;
  const problems = [
    ...nameProblems(name),
    ...ownerProblems(object),
    ...finalizerProblems(object, previous),
  ];
  if (kind.resource.namespaced && !namespace) problems.push(required("metadata.namespace"));
  problems.push(...(kind.problems?.(object, previous) ?? []));
  if (problems.length > 0) throw invalid(kind.resource.plural, name, problems);
}

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function nameProblems(name: string): StatusCause[] {
  if (name.length <= 253 && subdomain.test(name)) return [];
  const message = `${JSON.stringify(name)} must be a lowercase RFC 1123 subdomain`;
  return [{ reason: "FieldValueInvalid", field: "metadata.name", message }];
}

function ownerProblems({ metadata: { ownerReferences = [] } }: AnyObject): StatusCause[] {
  const problems: StatusCause[] = [];
  for (const [index, owner] of ownerReferences.entries()) {
    const at = `metadata.ownerReferences[${index}]`;
    for (const key of ["apiVersion", "kind", "name", "uid"] as const) {
      if (!isJsonObject(owner) || !owner[key]) problems.push(required(`${at}.${key}`));
    }
  }
  if (ownerReferences.filter(({ controller }) => controller).length > 1) {
    const message = "only one reference can have controller set to true";
    problems.push({ reason: "FieldValueInvalid", field: "metadata.ownerReferences", message });
  }
  return problems;
}

/** An object that is being deleted accepts no new finalizers. */
function finalizerProblems(object: AnyObject, previous: AnyObject | undefined): StatusCause[] {
  if (!previous?.metadata.deletionTimestamp) return [];
  const known = new Set(previous.metadata.finalizers);
  const added = (object.metadata.finalizers ?? []).filter((each) => !known.has(each));
  if (added.length === 0) return [];
  const message = `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`;
  return [{ reason: "FieldValueForbidden", field: "metadata.finalizers", message }];
}

function required(field: string): StatusCause {
  return { reason: "FieldValueRequired", field, message: "Required value" };
}

const letters = "bcdfghjklmnpqrstvwxz2456789";

/** Five letters and digits, as servers put them after `generateName`. */
function suffix({ random }: ServerState): string {
  return Array.from(
    { length: 5 },
    () => letters[Math.floor(random.number() * letters.length)],
  ).join("");
}
