import type { KubeObject } from "./kube-object.ts";
import type { ObjectName, Resource } from "./resource.ts";

/** Options of every request. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until it fails with `KUBE_TIMEOUT`; for a watch, until it begins. By default the client's. */
  readonly timeout?: number | undefined;
}

/** Options of {@link KubeClient.get}. */
export interface GetOptions extends RequestOptions {
  readonly subresource?: string | undefined;
}

/** Options of {@link KubeClient.list}. */
export interface ListOptions extends RequestOptions {
  /** One namespace; all of them if it is left out. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** At most so many objects; the rest comes with `continue`. */
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  /** `"0"` lets the server answer from its cache, which may lag; left out, the answer is up to date. */
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan" | undefined;
}

/** One page of a list. */
export interface ObjectList<T extends KubeObject> {
  readonly items: readonly T[];
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

/** Options of every write. */
export interface WriteOptions extends RequestOptions {
  /** `status`, `scale`, `binding`, `eviction`, ... */
  readonly subresource?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly fieldManager?: string | undefined;
}

/** One operation of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly path: string; readonly from: string };

/** A patch of an object, in one of the formats that a server accepts. */
export type Patch =
  | { readonly type: "json"; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: "merge"; readonly body: unknown }
  | { readonly type: "strategic"; readonly body: unknown }
  /** Server-side apply: needs `fieldManager`. `force` takes over fields of other managers. */
  | { readonly type: "apply"; readonly body: unknown; readonly force?: boolean };

/** Options of {@link KubeClient.delete}. */
export interface DeleteOptions extends RequestOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan" | undefined;
  /** Refuses with 409 unless the object is still this one. */
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
  readonly dryRun?: boolean | undefined;
}

/** Options of {@link KubeClient.watch}. */
export interface WatchOptions extends RequestOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Changes after this version. */
  readonly resourceVersion?: string | undefined;
  readonly allowBookmarks?: boolean | undefined;
  /** Streams the objects that exist before the changes; the bookmark that ends them has an annotation. */
  readonly sendInitialEvents?: boolean | undefined;
  /** When the server ends the watch. */
  readonly timeoutSeconds?: number | undefined;
  /** Is called when the server has accepted the watch: one that has nothing to report may then say nothing for long. */
  readonly onOpen?: (() => void) | undefined;
}

/** An event of a watch. A client never returns `ERROR`: it throws it as a `KubeError`. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  /** Nothing changed up to this version. The object has only `metadata`. */
  | { readonly type: "BOOKMARK"; readonly object: KubeObject };

/** A request to any path of the server, such as `/version`. */
export interface RawRequest extends RequestOptions {
  readonly method?: string | undefined;
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON unless it is a string. */
  readonly body?: unknown;
}

/** The answer to a {@link RawRequest}; a status that is not 2xx is thrown as a `KubeError`. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * A Kubernetes API server. Every failure is a `KubeError`. A request is repeated only if the server asks for it
 * (429, or 5xx with a Retry-After), because then it has had no effect.
 */
export interface KubeClient {
  /** One object, as it is now: never from a cache. */
  get<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    options?: GetOptions,
  ): Promise<T>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<ObjectList<T>>;
  /**
   * `object.metadata.namespace` says in which namespace; `apiVersion` and `kind` are the resource's. For a
   * subresource such as `binding`, `object` names its parent and is sent as it is.
   */
  create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: WriteOptions,
  ): Promise<T>;
  /** Refused with 409 if `metadata.resourceVersion` is given and no longer current. */
  update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: WriteOptions,
  ): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T>;
  /** Resolves once the server has accepted it; finalizers and grace periods may keep the object for longer. */
  delete<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    options?: DeleteOptions,
  ): Promise<void>;
  /** Ends when the server ends it; throws when the connection breaks or the version is too old (410). */
  watch<T extends KubeObject>(
    resource: Resource<T>,
    options?: WatchOptions,
  ): AsyncIterable<WatchEvent<T>>;
  request(request: RawRequest): Promise<RawResponse>;
}
