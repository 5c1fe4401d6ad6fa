import { isNotFound, type JsonPatchOperation, KubeError, type KubeObject } from "@virtkit/kube";
import type { PlannedWrite, PlanTarget } from "../../plan/index.ts";

type Json = Record<string, unknown>;

/** An API server for tests, just large enough for one VMI: it stores objects and counts writes. */
export class SmallCluster implements PlanTarget {
  readonly #objects = new Map<string, KubeObject>();
  /** Writes as `verb resource`, in order. */
  readonly calls: string[] = [];
  #version = 1;

  /** A cluster with these objects. */
  static from(entries: readonly [string, KubeObject][]): SmallCluster {
    const cluster = new SmallCluster();
    for (const [key, object] of entries) cluster.#objects.set(key, object);
    return cluster;
  }

  /** All stored objects. */
  entries(): readonly [string, KubeObject][] {
    return [...this.#objects];
  }

  /** Removes an object despite its finalizers, as a user can. */
  drop(plural: string, name: string): void {
    this.#objects.delete(`${plural}/${name}`);
  }

  /** Stores an object on somebody else's behalf, without counting a write. */
  put(plural: string, object: object): void {
    const { metadata } = object as KubeObject;
    const key = `${plural}/${metadata.name}`;
    const { resourceVersion: before = "" } = this.#objects.get(key)?.metadata ?? {};
    const same = { ...object, metadata: { ...metadata, resourceVersion: before } };
    // A write that changes nothing makes no new version.
    if (JSON.stringify(this.#objects.get(key)) === JSON.stringify(same)) return;
    const resourceVersion = `${this.#version++}`;
    this.#objects.set(key, { ...object, metadata: { ...metadata, resourceVersion } });
  }

  /** Lets somebody else change an object. */
  change<T>(plural: string, name: string, edit: (object: T) => object): void {
    const edited = edit(this.find<T>(plural, name)) as KubeObject;
    this.put(plural, edited);
    this.#collect(plural, edited);
  }

  find<T>(plural: string, name: string): T {
    const object = this.#objects.get(`${plural}/${name}`);
    if (!object) throw new KubeError("KUBE_STATUS", "no", { status: 404, reason: "NotFound" });
    return object as T;
  }

  all<T>(plural: string): readonly T[] {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(`${plural}/`));
    return keys.map((key) => this.#objects.get(key) as T);
  }

  /** The object, unless it is gone. */
  present<T>(plural: string, name: string): T | undefined {
    try {
      return this.find<T>(plural, name);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async write(write: PlannedWrite): Promise<KubeObject | undefined> {
    const { plural } = write.resource;
    this.calls.push(`${write.kind} ${plural}`);
    if (write.kind === "create") {
      const { generateName = "", ...given } = write.object.metadata;
      const metadata = { ...given, name: given.name ?? `${generateName}${this.#version}` };
      if (this.present(plural, String(metadata.name))) {
        throw new KubeError("KUBE_STATUS", "the object exists", {
          status: 409,
          reason: "AlreadyExists",
        });
      }
      const uid = `uid-${this.#version}`;
      this.put(plural, { ...write.object, metadata: { ...metadata, uid } });
      return undefined;
    }
    const object = this.find<KubeObject>(plural, write.object.name);
    if (write.kind === "delete" && object.metadata.uid !== write.uid) {
      throw new KubeError("KUBE_STATUS", "another", { status: 409, reason: "Conflict" });
    }
    const edited =
      write.kind === "patch" ? patched(object, write.operations) : markedForDeletion(object);
    this.put(plural, edited);
    this.#collect(plural, edited);
    return edited;
  }

  /** Objects marked for deletion are removed with their last finalizer. */
  #collect(plural: string, { metadata }: KubeObject): void {
    if (!metadata.deletionTimestamp || metadata.finalizers?.length) return;
    this.#objects.delete(`${plural}/${metadata.name}`);
  }
}

function markedForDeletion(object: KubeObject): KubeObject {
  return {
    ...object,
    metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", ...object.metadata },
  };
}

function patched(object: KubeObject, operations: readonly JsonPatchOperation[]): KubeObject {
  const copy = structuredClone(object);
  for (const operation of operations) apply(copy, operation);
  return copy;
}

function apply(object: KubeObject, operation: JsonPatchOperation): void {
  const keys = operation.path.split("/").slice(1).map(unescaped);
  const last = keys.pop() ?? "";
  const holder = keys.reduce<unknown>((each, key) => Object(each)[key], object) as Json;
  if (operation.op === "remove") delete holder[last];
  else if (operation.op === "test") demand(Object(holder)[last], operation);
  else if ("value" in operation && last === "-") Object(holder).push(operation.value);
  else if ("value" in operation) holder[last] = operation.value;
}

function demand(found: unknown, { path, value }: { path: string; value: unknown }): void {
  if (JSON.stringify(found ?? null) === JSON.stringify(value ?? null)) return;
  throw new KubeError("KUBE_STATUS", path, { status: 422, reason: "Invalid" });
}

function unescaped(key: string): string {
  return key.replaceAll("~1", "/").replaceAll("~0", "~");
}
