import type { KubeClient, WriteOptions } from "../client/kube-client.ts";
import { KubeError } from "../client/kube-error.ts";
import type { KubeObject } from "../client/kube-object.ts";
import { apiVersionOf, type Resource } from "../client/resource.ts";

/** Options of {@link applyObject}. */
export interface ApplyOptions extends WriteOptions {
  /** Whose fields these are. Fields that were once applied under this name and are now left out are removed. */
  readonly fieldManager: string;
  /** Takes fields over that others have set; otherwise they are a conflict. By default false. */
  readonly force?: boolean | undefined;
}

/**
 * Server-side apply: creates the object, or sets only the given fields. Fields that only a server may set are left
 * out. The server writes nothing if nothing changes, but every call is a request: if a cache has the object,
 * `patchObject` is cheaper.
 */
export async function applyObject<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  object: T,
  { force = false, ...options }: ApplyOptions,
): Promise<T> {
  const { namespace, name } = object.metadata;
  if (name === undefined) {
    throw new KubeError(
      "KUBE_INPUT_INVALID",
      "metadata.name is missing; an applied object needs a name",
      {
        path: "metadata.name",
      },
    );
  }
  const {
    managedFields: _fields,
    resourceVersion: _version,
    uid: _uid,
    generation: _generation,
    creationTimestamp: _created,
    ...metadata
  } = object.metadata;
  const { kind } = resource;
  const body = { ...object, apiVersion: apiVersionOf(resource), kind, metadata };
  const target = namespace === undefined ? { name } : { namespace, name };
  return await client.patch(resource, target, { type: "apply", body, force }, options);
}
