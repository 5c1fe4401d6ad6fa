import {
  type JsonPatchOperation,
  KubeError,
  type KubeObject,
  type ObjectName,
} from "@virtkit/kube";
import { merged, patched } from "./patched.ts";

/** One change of the store. */
export interface StoreChange {
  readonly by: string;
  readonly plural: string;
  readonly verb: "create" | "patch" | "delete" | "remove";
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** The contents of a {@link SmallStore}. Objects are never changed in place, so a copy is small. */
export interface StoreContent {
  readonly version: number;
  readonly uids: number;
  readonly objects: ReadonlyMap<string, ReadonlyMap<string, KubeObject>>;
}

/** Options of a {@link SmallStore}. */
export interface SmallStoreOptions {
  readonly content?: StoreContent;
  readonly date: () => string;
  /** What webhooks do to an object that is created. */
  readonly admit: (plural: string, object: KubeObject) => KubeObject;
  /** What webhooks say about a change before it is stored; throws if they refuse it. */
  readonly review?: (change: StoreChange) => void;
  readonly onChange: (change: StoreChange) => void;
  /** Whether the conditions of writes are ignored: the control that shows what they prevent. */
  readonly ignoresConditions?: boolean;
}

/**
 * As much of an API server as a migration needs: versions, conditional writes, finalizers, and Pods that stay until their
 * kubelet releases them. For everything that it does not check, use an `InProcessApiServer`.
 */
export class SmallStore {
  readonly #options: SmallStoreOptions;
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #lists = new Map<string, readonly KubeObject[]>();
  readonly #changedAt = new Map<string, number>();
  /** Pods that their kubelets have released. */
  readonly #let = new Set<string>();
  #version: number;
  #uids: number;

  constructor(options: SmallStoreOptions) {
    this.#options = options;
    this.#version = options.content?.version ?? 1;
    this.#uids = options.content?.uids ?? 0;
    for (const [plural, objects] of options.content?.objects ?? []) {
      this.#objects.set(plural, new Map(objects));
      this.#changedAt.set(plural, this.#version);
    }
  }

  get content(): StoreContent {
    const objects = new Map([...this.#objects].map(([plural, all]) => [plural, new Map(all)]));
    return { version: this.#version, uids: this.#uids, objects };
  }

  get version(): number {
    return this.#version;
  }

  /** The version of the last change of a kind. */
  changedAt(plural: string): number {
    return this.#changedAt.get(plural) ?? 0;
  }

  find(plural: string, name: string): KubeObject | undefined {
    return this.#objects.get(plural)?.get(name);
  }

  get(plural: string, name: string): KubeObject {
    const found = this.find(plural, name);
    if (found) return found;
    throw status(404, "NotFound", `${plural} "${name}" not found`);
  }

  /** All objects of a kind: the same list until one of them changes. */
  list(plural: string): readonly KubeObject[] {
    const known = this.#lists.get(plural);
    if (known) return known;
    const list = [...(this.#objects.get(plural)?.values() ?? [])];
    this.#lists.set(plural, list);
    return list;
  }

  create(by: string, plural: string, given: KubeObject): KubeObject {
    const object = this.#options.admit(plural, given);
    const { generateName = "", name = `${generateName}${this.#uids + 1}` } = object.metadata;
    if (this.find(plural, name)) throw status(409, "AlreadyExists", `${plural} "${name}" exists`);
    const metadata = {
      ...object.metadata,
      ...{ name, uid: `${plural}-${++this.#uids}`, creationTimestamp: this.#options.date() },
    };
    const created = { ...object, metadata } as KubeObject;
    const stored = this.#put(by, plural, "create", undefined, created);
    if (plural === "pods" && !this.#hasOwner(stored))
      this.delete("garbage collector", plural, stored.metadata as ObjectName);
    return stored;
  }

  /** Whether an owner of an object exists, or it has none. One whose owners are all gone is garbage, also if it is new. */
  #hasOwner({ metadata: { ownerReferences = [] } }: KubeObject): boolean {
    const owners = this.list("virtualmachineinstances").map(({ metadata }) => metadata.uid);
    return ownerReferences.length === 0 || ownerReferences.some(({ uid }) => owners.includes(uid));
  }

  patch(
    by: string,
    plural: string,
    name: string,
    patch:
      | { readonly type: "json"; readonly operations: readonly JsonPatchOperation[] }
      | { readonly type: "merge"; readonly body: unknown },
  ): KubeObject {
    const before = this.get(plural, name);
    const after =
      patch.type === "json"
        ? patched(before, this.#conditional(patch.operations))
        : this.#merged(before, patch.body);
    if (after === before) return before;
    if (!this.#options.ignoresConditions) {
      this.#options.review?.({ by, plural, verb: "patch", before, after });
    }
    return this.#put(by, plural, "patch", before, after);
  }

  delete(by: string, plural: string, { name }: ObjectName, uid?: string): void {
    const before = this.get(plural, name);
    if (uid !== undefined && before.metadata.uid !== uid && !this.#options.ignoresConditions) {
      throw status(409, "Conflict", `${plural} "${name}" has another UID`);
    }
    if (before.metadata.deletionTimestamp) return;
    const metadata = { ...before.metadata, deletionTimestamp: this.#options.date() };
    this.#put(by, plural, "delete", before, { ...before, metadata });
  }

  /** The kubelet releases a Pod whose containers have ended. */
  letGo(name: string): void {
    const pod = this.get("pods", name);
    this.#let.add(String(pod.metadata.uid));
    this.#removeIfFree("kubelet", "pods", pod);
  }

  #conditional(operations: readonly JsonPatchOperation[]): readonly JsonPatchOperation[] {
    return this.#options.ignoresConditions
      ? operations.filter(({ op }) => op !== "test")
      : operations;
  }

  #merged(before: KubeObject, body: unknown): KubeObject {
    const { uid, resourceVersion } = (Object(body) as KubeObject).metadata ?? {};
    const isOther =
      (uid !== undefined && uid !== before.metadata.uid) ||
      (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion);
    if (isOther && !this.#options.ignoresConditions) {
      throw status(409, "Conflict", "the object has been changed");
    }
    return merged(before, body);
  }

  #put(
    by: string,
    plural: string,
    verb: StoreChange["verb"],
    before: KubeObject | undefined,
    after: KubeObject,
  ): KubeObject {
    const resourceVersion = String(++this.#version);
    const stored = { ...after, metadata: { ...after.metadata, resourceVersion } };
    const all = this.#objects.get(plural) ?? new Map<string, KubeObject>();
    this.#objects.set(plural, all);
    all.set(String(stored.metadata.name), stored);
    this.#changed(plural);
    this.#options.onChange({ by, plural, verb, before, after: stored });
    this.#removeIfFree(by, plural, stored);
    return stored;
  }

  #removeIfFree(by: string, plural: string, object: KubeObject): void {
    const { deletionTimestamp, finalizers = [], uid = "", name = "" } = object.metadata;
    if (!deletionTimestamp || finalizers.length > 0) return;
    const isPlaced = plural === "pods" && Boolean((Object(object) as Placed).spec?.nodeName);
    if (isPlaced && !this.#let.has(uid)) return;
    this.#objects.get(plural)?.delete(name);
    this.#version++;
    this.#changed(plural);
    this.#options.onChange({ by, plural, verb: "remove", before: object, after: undefined });
    for (const pod of this.list("pods")) {
      const isOwned = pod.metadata.ownerReferences?.some((owner) => owner.uid === uid);
      if (isOwned) this.delete("garbage collector", "pods", { name: String(pod.metadata.name) });
    }
  }

  #changed(plural: string): void {
    this.#lists.delete(plural);
    this.#changedAt.set(plural, this.#version);
  }
}

interface Placed {
  readonly spec?: { readonly nodeName?: string };
}

function status(code: number, reason: string, message: string): KubeError {
  return new KubeError("KUBE_STATUS", message, { status: code, reason });
}
