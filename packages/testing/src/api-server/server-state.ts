import { type Clock, realClock } from "@virtkit/api/clock";
import { type Random, realRandom } from "@virtkit/api/random";
import { apiVersionOf, type KubeObject, type Resource } from "@virtkit/kube";
import { accessReviewKinds } from "./access-reviews.ts";
import type { Admission, AdmissionRequest } from "./admission.ts";
import type { Authorizer } from "./authorizer.ts";
import { type Change, ChangeLog } from "./change-log.ts";
import { coreKinds } from "./core-kinds.ts";
import { frozenCopy } from "./json.ts";
import { applyJsonPatch } from "./json-patch.ts";
import { type AnyObject, type Kind, kindKey } from "./kind.ts";
import { ObjectTable, objectKey } from "./object-table.ts";
import { noSuchPath, notFound, statusError } from "./status-error.ts";

/** Options of an API server. */
export interface ApiServerOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  /** When the clock's time began, for the times in objects. */
  readonly epoch?: Date;
  /** Kinds besides `coreKinds`; CustomResourceDefinitions add more as they are created. */
  readonly kinds?: readonly Kind[];
  readonly admission?: readonly Admission[];
  /** Answers access reviews; requests themselves are not authorised. By default everybody may do everything. */
  readonly authorizer?: Authorizer;
}

/** One write that reached the server, whatever it answered. */
export interface RecordedWrite {
  readonly actor: string;
  readonly verb: "create" | "update" | "patch" | "delete";
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name: string;
  /** The HTTP status of the answer. */
  readonly status: number;
}

/** What an API server knows and keeps: its kinds, their objects, and what has changed. */
export class ServerState {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: ChangeLog = new ChangeLog();
  readonly authorizer: Authorizer;
  readonly #epoch: number;
  readonly #admission: readonly Admission[];
  readonly #kinds = new Map<string, Kind>();
  readonly #tables = new Map<string, ObjectTable>();
  readonly #writes: RecordedWrite[] = [];
  #revision = 1;

  constructor(options: ApiServerOptions = {}) {
    this.clock = options.clock ?? realClock;
    this.random = options.random ?? realRandom;
    this.#epoch = (options.epoch ?? new Date("2026-01-01T00:00:00Z")).getTime();
    this.#admission = options.admission ?? [];
    this.authorizer = options.authorizer ?? (() => true);
    for (const kind of [...coreKinds, ...accessReviewKinds, ...(options.kinds ?? [])])
      this.addKind(kind);
  }

  /** Every write since the start, in order. */
  writes(): readonly RecordedWrite[] {
    return this.#writes;
  }

  /** Forgets older versions, as etcd's compaction does: watches that start from them are refused with 410. */
  compact(): void {
    this.log.compact(this.#revision);
  }

  /** The version of the last change. */
  get revision(): number {
    return this.#revision;
  }

  /** The time for objects, in whole seconds. */
  timestamp(): string {
    return this.date()
      .toISOString()
      .replace(/\.\d+Z$/, "Z");
  }

  date(): Date {
    return new Date(this.#epoch + this.clock.now());
  }

  addKind(kind: Kind): void {
    const key = kindKey(kind.resource);
    this.#kinds.set(key, kind);
    if (!this.#tables.has(key)) this.#tables.set(key, new ObjectTable());
  }

  removeKind(resource: Resource): void {
    this.#kinds.delete(kindKey(resource));
    this.#tables.delete(kindKey(resource));
  }

  /** The kind of a resource. Throws 404 as a server does for a path that it does not serve. */
  kind(resource: Resource): Kind {
    const kind = this.#kinds.get(kindKey(resource));
    if (kind && kind.resource.version === resource.version) return kind;
    throw noSuchPath();
  }

  get kinds(): readonly Kind[] {
    return [...this.#kinds.values()];
  }

  table(kind: Kind): ObjectTable {
    const table = this.#tables.get(kindKey(kind.resource));
    if (!table) throw new TypeError(`there is no table of ${kind.resource.plural}`);
    return table;
  }

  /** One object. Throws 404 if it is not there. */
  find(kind: Kind, name: { namespace?: string; name: string }): AnyObject {
    const found = this.table(kind).get(objectKey(name));
    if (!found) throw notFound(kind.resource.plural, name.name);
    return found;
  }

  /** Puts an object into the store as it is, past all rules: for the state that a test begins with. */
  seed(object: AnyObject, key: string): AnyObject {
    const kind = this.#kinds.get(key);
    if (!kind) throw new TypeError(`there is no kind ${key}`);
    const metadata = {
      uid: this.random.uuid(),
      creationTimestamp: this.timestamp(),
      ...object.metadata,
    };
    const whole = kind.created ? kind.created({ ...object, metadata }) : { ...object, metadata };
    return this.store(
      kind,
      { ...whole, ...(object.status ? { status: object.status } : {}) },
      undefined,
    );
  }

  /** Puts an object into the store by its `apiVersion` and `kind`. */
  seedByKind(object: AnyObject): AnyObject {
    const kind = this.kinds.find(
      ({ resource }) =>
        resource.kind === object.kind && apiVersionOf(resource) === object.apiVersion,
    );
    if (!kind) throw new TypeError(`there is no kind ${object.apiVersion} ${object.kind}`);
    return this.seed(object, kindKey(kind.resource));
  }

  /** Stores an object as the next version, and informs the watches. */
  store(kind: Kind, object: AnyObject, previous: AnyObject | undefined): AnyObject {
    const stored = this.#versioned(object);
    this.table(kind).set(stored);
    this.#tell(kind, previous ? "MODIFIED" : "ADDED", stored, previous);
    return stored;
  }

  /** Takes an object out of the store. */
  remove(kind: Kind, object: AnyObject): AnyObject {
    const last = this.#versioned(object);
    this.table(kind).delete(objectKey(object.metadata));
    this.#tell(kind, "DELETED", last, object);
    return last;
  }

  record(write: RecordedWrite): void {
    this.#writes.push(write);
  }

  get hasAdmission(): boolean {
    return this.#admission.length > 0;
  }

  /** The object after admission. Throws a refusal. */
  async admit(request: AdmissionRequest): Promise<AnyObject> {
    let { object } = request;
    for (const { mutate } of this.#admission) {
      const answer = await mutate?.({ ...request, object });
      if (!answer) continue;
      if (!answer.allowed) throw refusal(answer);
      if (answer.patch) object = frozenCopy(applyJsonPatch(object, answer.patch)) as KubeObject;
    }
    for (const { validate } of this.#admission) {
      const answer = await validate?.({ ...request, object });
      if (answer && !answer.allowed) throw refusal(answer);
    }
    return object;
  }

  #versioned(object: AnyObject): AnyObject {
    const resourceVersion = String(++this.#revision);
    return frozenCopy({ ...object, metadata: { ...object.metadata, resourceVersion } });
  }

  #tell(kind: Kind, type: Change["type"], object: AnyObject, previous?: AnyObject): void {
    this.log.add({
      revision: this.#revision,
      kind: kindKey(kind.resource),
      type,
      object,
      ...(previous ? { previous } : {}),
    });
  }
}

function refusal({
  message,
  code = 403,
  reason,
}: {
  message: string;
  code?: number;
  reason?: string;
}) {
  return statusError({
    status: code,
    reason: reason ?? (code === 403 ? "Forbidden" : code === 422 ? "Invalid" : "Unknown"),
    message: `admission webhook denied the request: ${message}`,
  });
}
