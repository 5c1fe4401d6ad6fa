import { decodeGrant, encodeGrant, type Grant, grantAnnotation } from "@virtkit/api/grant";
import { type Names, names as namesOf } from "@virtkit/api/names";
import type { GrantStore, GrantStoreOptions, StoredGrant } from "@virtkit/domain-manager";

/** The parts of an API object that a grant needs. */
export interface AnnotatedObject {
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
}

/** Reads one object and changes it conditionally. */
export interface AnnotationClient {
  /** A live read; undefined if the object is gone. */
  get(options?: GrantStoreOptions): Promise<AnnotatedObject | undefined>;
  /**
   * A merge patch. The API server rejects one whose `metadata.resourceVersion` or `metadata.uid` is not the
   * object's: then it returns false, as it does if the object is gone. Throws if the result is unknown.
   */
  patch(patch: AnnotatedObject, options?: GrantStoreOptions): Promise<boolean>;
}

/** UID of the VMI that the grant belongs to, and its resourceVersion when it was read. */
type Version = Pick<AnnotatedObject["metadata"], "uid" | "resourceVersion"> | undefined;

/**
 * A grant in the annotation of one VMI, by its UID: a VMI with the same name and another UID is not it, and reads
 * as invalid.
 */
export class AnnotationGrantStore implements GrantStore<Version> {
  readonly #client: AnnotationClient;
  readonly #vmiUid: string;
  readonly #name: string;

  constructor(
    client: AnnotationClient,
    vmiUid: string,
    { names = namesOf() }: { readonly names?: Names } = {},
  ) {
    this.#client = client;
    this.#vmiUid = vmiUid;
    this.#name = names.own(grantAnnotation);
  }

  async read(options?: GrantStoreOptions): Promise<StoredGrant<Version>> {
    const object = await this.#client.get(options);
    if (!object || object.metadata.uid !== this.#vmiUid) {
      return { grant: { state: "Invalid", problem: "the VMI is gone" }, version: undefined };
    }
    const { uid, resourceVersion, annotations } = object.metadata;
    const value =
      annotations && Object.hasOwn(annotations, this.#name) ? annotations[this.#name] : undefined;
    return { grant: decodeGrant(value, this.#vmiUid), version: { uid, resourceVersion } };
  }

  async swap(
    { version }: StoredGrant<Version>,
    next: Grant,
    options?: GrantStoreOptions,
  ): Promise<boolean> {
    if (!version) return false;
    const annotations = { [this.#name]: encodeGrant(next) };
    return await this.#client.patch({ metadata: { ...version, annotations } }, options);
  }
}
