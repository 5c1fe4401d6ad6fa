import type {
  DeleteOptions,
  GetOptions,
  JsonPatchOperation,
  KubeClient,
  ListOptions,
  ObjectList,
  Patch,
  RawResponse,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "../client/kube-client.ts";
import { KubeError } from "../client/kube-error.ts";
import type { KubeObject } from "../client/kube-object.ts";
import { apiVersionOf, type ObjectName, type Resource } from "../client/resource.ts";

type Json = Record<string, unknown>;
type Listener = (event: WatchEvent<KubeObject>) => void;

/** A request as {@link Behaviour} sees it. */
export interface MemoryRequest {
  readonly verb: "get" | "list" | "create" | "update" | "patch" | "delete";
  readonly resource: Resource;
  readonly name: string;
  readonly body?: unknown;
}

/** What a network does to requests; each may wait, or throw. */
export interface Behaviour {
  /** Before a request has an effect. */
  readonly before?: (request: MemoryRequest) => Promise<void> | void;
  /** After it took effect, and before the answer. */
  readonly after?: (request: MemoryRequest) => Promise<void> | void;
}

/** Objects of a Kubernetes API server that several clients share. */
export class MemoryStore {
  readonly objects = new Map<string, KubeObject>();
  readonly listeners = new Map<string, Set<Listener>>();
  version = 0;
  uids = 0;

  put(resource: Resource, object: KubeObject, type: "ADDED" | "MODIFIED"): KubeObject {
    const { kind } = resource;
    const metadata = { ...object.metadata, resourceVersion: String(++this.version) };
    const stored = { ...object, apiVersion: apiVersionOf(resource), kind, metadata };
    const { deletionTimestamp, finalizers = [] } = metadata;
    if (deletionTimestamp !== undefined && finalizers.length === 0) {
      return this.remove(resource, stored);
    }
    this.objects.set(pathOf(resource, metadata), stored);
    this.tell(resource, { type, object: stored });
    return stored;
  }

  remove(resource: Resource, object: KubeObject): KubeObject {
    this.objects.delete(pathOf(resource, object.metadata));
    const metadata = { ...object.metadata, resourceVersion: String(++this.version) };
    this.tell(resource, { type: "DELETED", object: { ...object, metadata } });
    return object;
  }

  tell(resource: Resource, event: WatchEvent<KubeObject>): void {
    for (const listener of this.listeners.get(kindPath(resource)) ?? []) listener(event);
  }
}

/** A client of a {@link MemoryStore}: enough of an API server for this package's tests, with its own network. */
export class MemoryClient implements KubeClient {
  readonly store: MemoryStore;
  readonly #behaviour: Behaviour;
  /** All writes, in order. */
  readonly writes: MemoryRequest[] = [];

  constructor(store: MemoryStore = new MemoryStore(), behaviour: Behaviour = {}) {
    this.store = store;
    this.#behaviour = behaviour;
  }

  get<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    _options?: GetOptions,
  ): Promise<T> {
    return this.#serve({ verb: "get", resource, name: object.name }, () =>
      this.#found(resource, object),
    );
  }

  list<T extends KubeObject>(
    resource: Resource<T>,
    { namespace, labelSelector }: ListOptions = {},
  ): Promise<ObjectList<T>> {
    return this.#serve({ verb: "list", resource, name: "" }, () => {
      const items = [...this.store.objects]
        .filter(([path]) => path.startsWith(`${kindPath(resource)}/`))
        .map(([, object]) => object as T)
        .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
        .filter(({ metadata }) => hasLabels(metadata.labels ?? {}, labelSelector));
      return { items, metadata: { resourceVersion: String(this.store.version) } };
    });
  }

  create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    _options?: WriteOptions,
  ): Promise<T> {
    const { name = `${object.metadata.generateName}${this.store.uids}` } = object.metadata;
    return this.#serve({ verb: "create", resource, name, body: object }, () => {
      if (this.store.objects.has(pathOf(resource, { ...object.metadata, name }))) {
        throw failure(409, "AlreadyExists", `${resource.plural} "${name}" already exists`);
      }
      const uid = `uid-${++this.store.uids}`;
      const created = { ...structuredClone(object), metadata: { ...object.metadata, name, uid } };
      return this.store.put(resource, created, "ADDED") as T;
    });
  }

  update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    _options?: WriteOptions,
  ): Promise<T> {
    const name = object.metadata.name ?? "";
    return this.#serve({ verb: "update", resource, name, body: object }, () => {
      const known = this.#found(resource, { ...object.metadata, name });
      const { resourceVersion = known.metadata.resourceVersion } = object.metadata;
      if (resourceVersion !== known.metadata.resourceVersion) {
        throw failure(409, "Conflict", `${resource.plural} "${name}" has been modified`);
      }
      const metadata = { ...object.metadata, uid: known.metadata.uid ?? "" };
      return this.store.put(resource, { ...structuredClone(object), metadata }, "MODIFIED") as T;
    });
  }

  patch<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    patch: Patch,
    _options?: WriteOptions,
  ): Promise<T> {
    return this.#serve({ verb: "patch", resource, name: object.name, body: patch }, () => {
      const known = structuredClone(this.#found(resource, object));
      if (patch.type === "merge") Object.assign(known, patch.body);
      else if (patch.type !== "json") throw new Error(`no ${patch.type} patches here`);
      else for (const operation of patch.operations) applyOperation(known, operation);
      return this.store.put(resource, known, "MODIFIED") as T;
    });
  }

  delete<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    { preconditions }: DeleteOptions = {},
  ): Promise<void> {
    return this.#serve({ verb: "delete", resource, name: object.name }, () => {
      const known = this.#found(resource, object);
      if (preconditions?.uid !== undefined && preconditions.uid !== known.metadata.uid) {
        throw failure(409, "Conflict", `${resource.plural} "${object.name}" is another object`);
      }
      const metadata = { ...known.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
      if (known.metadata.deletionTimestamp === undefined) {
        this.store.put(resource, { ...known, metadata }, "MODIFIED");
      }
    });
  }

  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    { signal, sendInitialEvents }: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>> {
    const events: WatchEvent<KubeObject>[] = [];
    let wake = (): void => {};
    const listener: Listener = (event) => {
      events.push(event);
      wake();
    };
    const path = kindPath(resource);
    const listeners = this.store.listeners.get(path) ?? new Set();
    this.store.listeners.set(path, listeners.add(listener));
    const stop = (): void => wake();
    signal?.addEventListener("abort", stop);
    try {
      if (sendInitialEvents) events.push(...this.#initialEvents(resource));
      while (!signal?.aborted) {
        const event = events.shift();
        if (event) yield event as WatchEvent<T>;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
      throw new KubeError("KUBE_ABORTED", "aborted");
    } finally {
      listeners.delete(listener);
      signal?.removeEventListener("abort", stop);
    }
  }

  request(): Promise<RawResponse> {
    throw new Error("no raw requests here");
  }

  #initialEvents(resource: Resource): WatchEvent<KubeObject>[] {
    const objects = [...this.store.objects]
      .filter(([path]) => path.startsWith(`${kindPath(resource)}/`))
      .map(([, object]) => ({ type: "ADDED" as const, object }));
    const annotations = { "k8s.io/initial-events-end": "true" };
    const metadata = { resourceVersion: String(this.store.version), annotations };
    return [...objects, { type: "BOOKMARK", object: { metadata } }];
  }

  #found<T extends KubeObject>(resource: Resource<T>, object: ObjectName): T {
    const found = this.store.objects.get(pathOf(resource, object));
    if (!found) throw failure(404, "NotFound", `${resource.plural} "${object.name}" not found`);
    return found as T;
  }

  async #serve<R>(request: MemoryRequest, effect: () => R): Promise<R> {
    if (request.verb !== "get" && request.verb !== "list") this.writes.push(request);
    await this.#behaviour.before?.(request);
    const result = effect();
    await this.#behaviour.after?.(request);
    return result;
  }
}

function kindPath({ group, plural }: Resource): string {
  return `${group}/${plural}`;
}

function pathOf(
  resource: Resource,
  { namespace, name }: { readonly namespace?: string | undefined; readonly name?: string },
): string {
  return `${kindPath(resource)}/${namespace ?? ""}/${name}`;
}

function hasLabels(
  labels: Readonly<Record<string, string>>,
  selector: string | undefined,
): boolean {
  const wanted = (selector ?? "").split(",").filter((part) => part !== "");
  return wanted.every((part) => labels[part.split("=")[0] ?? ""] === part.split("=")[1]);
}

function failure(status: number, reason: string, message: string): KubeError {
  return new KubeError("KUBE_STATUS", message, { status, reason });
}

/** As in kube-apiserver: a test for null passes if there is no value. */
function applyOperation(document: object, operation: JsonPatchOperation): void {
  const parts = operation.path
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = parts.pop() ?? "";
  const parent = parts.reduce<unknown>((at, part) => (at as Json | undefined)?.[part], document);
  const rejected = (why: string): KubeError =>
    new KubeError("KUBE_STATUS", "the server rejected our request due to an error in our request", {
      status: 422,
      reason: "Invalid",
      causes: [{ message: `${why} ${operation.path}` }],
    });
  if (typeof parent !== "object" || parent === null) throw rejected("no such path:");
  const target = parent as Json;
  if (operation.op === "test") {
    if (JSON.stringify(target[last] ?? null) !== JSON.stringify(operation.value)) {
      throw rejected("testing value failed:");
    }
  } else if (operation.op === "remove") delete target[last];
  else if (operation.op === "add" || operation.op === "replace") target[last] = operation.value;
  else throw new Error(`no operation ${operation.op} here`);
}
