import {
  type DeleteOptions,
  type GetOptions,
  isConflict,
  type KubeClient,
  KubeError,
  type KubeObject,
  type ListOptions,
  type ObjectList,
  type ObjectName,
  type Patch,
  type RawRequest,
  type RawResponse,
  type Resource,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from "@virtkit/kube";
import { applyObject } from "./apply-object.ts";
import { deleteObject, removeIfDone } from "./delete-object.ts";
import { frozenCopy, isJsonObject, sameJson } from "./json.ts";
import { applyJsonPatch, PatchFailure } from "./json-patch.ts";
import type { AnyObject, Kind } from "./kind.ts";
import { listObjects } from "./list-objects.ts";
import { applyMergePatch, applyStrategicPatch } from "./merge-patch.ts";
import { objectKey } from "./object-table.ts";
import { bindPod, evictPod } from "./pod-subresources.ts";
import type { RecordedWrite, ServerState } from "./server-state.ts";
import {
  alreadyExists,
  badRequest,
  invalid,
  noSuchPath,
  notFound,
  statusError,
} from "./status-error.ts";
import { changedObject, checkNamespace, checkObject, newObject } from "./store-object.ts";
import { watchObjects } from "./watch-objects.ts";

/** A client of a server in the same process. Every call answers in a later turn, as one over a network does. */
export class InProcessClient implements KubeClient {
  readonly #server: ServerState;
  readonly #actor: string;

  constructor(server: ServerState, actor: string) {
    this.#server = server;
    this.#actor = actor;
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    options: GetOptions = {},
  ): Promise<T> {
    await this.#turn(options.signal);
    const kind = this.#server.kind(resource);
    if (kind.answer) throw noSuchPath();
    return this.#server.find(kind, object) as KubeObject as T;
  }

  async list<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): Promise<ObjectList<T>> {
    await this.#turn(options.signal);
    return listObjects(this.#server, this.#stored(resource), options) as ObjectList<T>;
  }

  create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#write("create", resource, object.metadata ?? {}, options, async (kind) => {
      const { authorizer } = this.#server;
      if (kind.answer) return kind.answer(frozenCopy(object), { user: this.#actor, authorizer });
      if (options.subresource) return this.#createSubresource(kind, object, options);
      checkNamespace(this.#server, kind, object.metadata);
      const made = newObject(this.#server, kind, frozenCopy(object));
      return this.#store(kind, made, undefined, options);
    });
  }

  update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#write("update", resource, object.metadata, options, async (kind) => {
      const { namespace, name = "", resourceVersion } = object.metadata;
      const at = { ...(namespace ? { namespace } : {}), name };
      return this.#again(kind, at, resourceVersion, async () => {
        const previous = this.#server.find(kind, at);
        const next = changedObject(kind, previous, frozenCopy(object), options.subresource);
        return this.#store(kind, next, previous, options);
      });
    });
  }

  patch<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const version = resourceVersionIn(patch);
    return this.#write("patch", resource, object, options, (kind) =>
      this.#again(kind, object, version, async (found) => {
        if (patch.type === "apply") return this.#apply(kind, object, patch, found, options);
        if (!found) throw notFound(kind.resource.plural, object.name);
        const patched = patchedObject(kind, found, patch);
        // Only a patch that names a version depends on it; the server reads and writes in one step.
        const named = version ?? found.metadata.resourceVersion;
        const isStatus = options.subresource === "status" && !kind.statusTakesMetadata;
        const metadata = {
          ...patched.metadata,
          ...(named ? { resourceVersion: named } : {}),
          // The status of a custom resource takes no metadata, and looks at none but the version.
          ...(isStatus && found.metadata.uid ? { uid: found.metadata.uid } : {}),
        };
        const given: AnyObject = { ...patched, metadata };
        checkPatchedUid(kind, found, given);
        const next = changedObject(kind, found, given, options.subresource);
        return this.#store(kind, next, found, options);
      }),
    );
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    options: DeleteOptions = {},
  ): Promise<void> {
    await this.#write("delete", resource, object, options, async (kind) => {
      const found = this.#server.find(kind, object);
      await this.#admit("DELETE", kind, found, found, options);
      return deleteObject(this.#server, kind, this.#server.find(kind, object), options);
    });
  }

  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>> {
    await this.#turn(options.signal);
    const kind = this.#stored(resource);
    options.onOpen?.();
    yield* watchObjects(this.#server, kind, options) as AsyncGenerator<WatchEvent<T>>;
    if (options.signal?.aborted) throw aborted();
  }

  /** Only `/version` and the health checks: all else has a method of its own. */
  async request({ path, signal }: RawRequest): Promise<RawResponse> {
    await this.#turn(signal);
    const json = { "content-type": "application/json" };
    if (path === "/version") {
      return { status: 200, headers: json, body: JSON.stringify({ major: "1", minor: "36" }) };
    }
    if (/^\/(healthz|livez|readyz)$/.test(path)) return { status: 200, headers: {}, body: "ok" };
    throw notFound("paths", path);
  }

  /** A kind of which there are lists. */
  #stored(resource: Resource): Kind {
    const kind = this.#server.kind(resource);
    if (kind.answer) throw notAllowed("list");
    return kind;
  }

  /** A write: recorded with its response, whatever that is. */
  async #write<T extends KubeObject>(
    verb: RecordedWrite["verb"],
    resource: Resource<T>,
    { namespace, name = "" }: { namespace?: string; name?: string },
    { subresource, signal }: WriteOptions,
    act: (kind: Kind) => Promise<AnyObject>,
  ): Promise<T> {
    await this.#turn(signal);
    const write = {
      ...{ actor: this.#actor, verb, resource: resource.plural, name },
      ...(namespace ? { namespace } : {}),
      ...(subresource ? { subresource } : {}),
    };
    try {
      const kind = this.#server.kind(resource);
      if (kind.answer && verb !== "create") throw noSuchPath();
      const answer = await act(kind);
      const status = verb === "create" ? 201 : 200;
      this.#server.record({ ...write, name: answer.metadata?.name ?? name, status });
      return answer as KubeObject as T;
    } catch (error) {
      if (error instanceof KubeError) this.#server.record({ ...write, status: error.status ?? 0 });
      throw error;
    }
  }

  /** Admits and stores what a create or an update made. Nothing is stored that did not change. */
  async #store(
    kind: Kind,
    made: AnyObject,
    previous: AnyObject | undefined,
    options: WriteOptions,
  ): Promise<AnyObject> {
    const operation = previous ? "UPDATE" : "CREATE";
    const given = frozenCopy(made);
    const admitted = this.#server.hasAdmission
      ? await this.#admit(operation, kind, given, previous, options)
      : given;
    checkObject(kind, admitted, previous);
    const now = this.#server.table(kind).get(objectKey(admitted.metadata));
    if (!previous && now) throw alreadyExists(kind.resource.plural, admitted.metadata.name ?? "");
    if (previous && now !== previous) throw this.#overtaken(kind, previous, now);
    if (previous && sameObject(admitted, previous)) return previous;
    if (options.dryRun) return frozenCopy(admitted);
    const stored = this.#server.store(kind, admitted, previous);
    removeIfDone(this.#server, kind, stored);
    return stored;
  }

  /**
   * Changes an object. If somebody else changed it during admission, it begins again with the present object,
   * as a server does unless the request names a version.
   */
  async #again(
    kind: Kind,
    at: ObjectName,
    version: string | undefined,
    change: (found: AnyObject | undefined) => Promise<AnyObject>,
  ): Promise<AnyObject> {
    const find = () => this.#server.table(kind).get(objectKey(at)) as AnyObject | undefined;
    for (;;) {
      const found = find();
      try {
        return await change(found);
      } catch (error) {
        if (version !== undefined || !isConflict(error) || find() === found) throw error;
      }
    }
  }

  /** Somebody else wrote while admission was asked. */
  #overtaken(kind: Kind, previous: AnyObject, now: KubeObject | undefined): KubeError {
    const { name = "" } = previous.metadata;
    if (!now) return notFound(kind.resource.plural, name);
    const message = `${kind.resource.plural} "${name}" was modified meanwhile; read it again`;
    return statusError({ status: 409, reason: "Conflict", message });
  }

  async #admit(
    operation: "CREATE" | "UPDATE" | "DELETE",
    kind: Kind,
    object: AnyObject,
    previous: AnyObject | undefined,
    { subresource, dryRun = false }: WriteOptions,
  ): Promise<AnyObject> {
    const { namespace, name = "" } = object.metadata;
    return await this.#server.admit({
      ...{ operation, resource: kind.resource, name, object, dryRun, user: this.#actor },
      ...(namespace ? { namespace } : {}),
      ...(subresource ? { subresource } : {}),
      ...(previous ? { previous } : {}),
    });
  }

  async #createSubresource(
    kind: Kind,
    object: KubeObject,
    options: WriteOptions,
  ): Promise<AnyObject> {
    const { namespace, name = "" } = object.metadata;
    const pod = this.#server.find(kind, { ...(namespace ? { namespace } : {}), name });
    if (options.subresource === "binding") return bindPod(this.#server, kind, pod, object);
    if (options.subresource !== "eviction") {
      throw notFound(`${kind.resource.plural}/${options.subresource}`, name);
    }
    await this.#admit("CREATE", kind, frozenCopy(object), undefined, options);
    return evictPod(this.#server, kind, pod, object);
  }

  async #apply(
    kind: Kind,
    at: ObjectName,
    patch: Extract<Patch, { type: "apply" }>,
    found: AnyObject | undefined,
    options: WriteOptions,
  ): Promise<AnyObject> {
    if (!options.fieldManager) {
      const message = "PatchOptions.meta.k8s.io is invalid: fieldManager: is required for apply";
      throw statusError({ status: 422, reason: "Invalid", message });
    }
    const applied = applyObject(kind, at, patch, found, options.fieldManager);
    if (!found) {
      checkNamespace(this.#server, kind, at);
      return this.#store(
        kind,
        keepManaged(newObject(this.#server, kind, applied), applied),
        undefined,
        options,
      );
    }
    const next = changedObject(kind, found, applied, options.subresource);
    return this.#store(kind, keepManaged(next, applied), found, options);
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    await Promise.resolve();
    if (signal?.aborted) throw aborted();
  }
}

function keepManaged(object: AnyObject, { metadata: { managedFields } }: AnyObject): AnyObject {
  return managedFields ? { ...object, metadata: { ...object.metadata, managedFields } } : object;
}

/** Of a patch, unlike of an update, a server says that the UID is a field that cannot be changed; a version comes first. */
function checkPatchedUid({ resource }: Kind, found: AnyObject, given: AnyObject): void {
  const { uid, resourceVersion, name = "" } = found.metadata;
  if (given.metadata.uid === undefined || given.metadata.uid === uid) return;
  if (given.metadata.resourceVersion !== resourceVersion) return;
  const message = "field is immutable";
  throw invalid(resource.plural, name, [
    { reason: "FieldValueInvalid", field: "metadata.uid", message },
  ]);
}

function notAllowed(verb: string): KubeError {
  const message = `the server does not allow this method on the requested resource: ${verb}`;
  return statusError({ status: 405, reason: "MethodNotAllowed", message });
}

function aborted(): KubeError {
  return new KubeError("KUBE_ABORTED", "the request was aborted by its caller");
}

/** Whether a write changes nothing; the version that it names is not part of the object. */
function sameObject(one: AnyObject, other: AnyObject): boolean {
  const { resourceVersion } = other.metadata;
  const metadata = { ...one.metadata, resourceVersion } as AnyObject["metadata"];
  return sameJson({ ...one, metadata }, other);
}

/** The object that a patch makes. */
function patchedObject(kind: Kind, object: AnyObject, patch: Patch): AnyObject {
  const { plural } = kind.resource;
  const { name = "" } = object.metadata;
  if (patch.type !== "json") {
    if (!isJsonObject(patch.body)) throw badRequest("a patch must be an object");
    const apply = patch.type === "merge" ? applyMergePatch : applyStrategicPatch;
    if (patch.type === "strategic" && !kind.strategicPatch) {
      const message = `the body of the request was in an unknown format: strategic merge patches are not for ${plural}`;
      throw statusError({ status: 415, reason: "UnsupportedMediaType", message });
    }
    return apply(object, patch.body) as AnyObject;
  }
  try {
    return applyJsonPatch(object, patch.operations) as AnyObject;
  } catch (error) {
    if (!(error instanceof PatchFailure)) throw error;
    // Without causes: what is wrong is the patch, not a field of the object.
    const message = `${plural} "${name}" cannot be patched: ${error.message}`;
    throw statusError({ status: 422, reason: "Invalid", message });
  }
}

/** The version that a patch asks for, if it does. */
function resourceVersionIn(patch: Patch): string | undefined {
  if (patch.type === "json") {
    const path = "/metadata/resourceVersion";
    const found = patch.operations.find(
      (each) => (each.op === "replace" || each.op === "add") && each.path === path,
    );
    return found && "value" in found ? String(found.value) : undefined;
  }
  const version = Object(Object(patch.body).metadata).resourceVersion;
  return typeof version === "string" ? version : undefined;
}
