import { at, objects, text } from "@virtkit/api/shape";
import type { PlannedWrite, PlanTarget } from "@virtkit/controller/plan";
import { KubeError, type KubeObject, type ObjectName, type Resource } from "@virtkit/kube";
import { applyJsonPatch } from "./apply-json-patch.ts";

/** A request that the API refuses, as `context.apiErrors` lists them. */
interface ApiError {
  readonly verb: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
  readonly error: string;
}

/** An object of a case as the API holds it now. */
export interface StoredObject {
  /** As in `input.objects`: `virtualMachineInstances`. */
  readonly plural: string;
  readonly before: KubeObject;
  readonly now: KubeObject;
  readonly deleted: boolean;
}

/** A write as it was answered. */
export interface AnsweredWrite {
  readonly write: PlannedWrite;
  readonly verb: string;
  /** The error of the context, if the case wants it refused; not if the objects make it fail. */
  readonly refused?: string;
}

const statusCodes: Readonly<Record<string, number>> = {
  AlreadyExists: 409,
  Conflict: 409,
  Forbidden: 403,
  InternalError: 500,
  Invalid: 422,
  NotFound: 404,
};

/** Forbidden, with words that callers look for. */
const spoken: Readonly<Record<string, string>> = {
  QuotaExceeded: "exceeded quota",
  PodSecurity: "violates PodSecurity",
};

/** The API server of a recorded case: the objects of its input, and the refusals of its context. */
export class RecordedCluster implements PlanTarget {
  readonly writes: AnsweredWrite[] = [];
  readonly #stored: { -readonly [K in keyof StoredObject]: StoredObject[K] }[] = [];
  readonly #errors: readonly ApiError[];
  readonly #cacheOnly: ReadonlySet<string>;
  readonly #updates: boolean;

  /** @param updates whether the controller that was recorded updates objects, and not only patches them. */
  constructor(
    input: unknown,
    context: unknown,
    { updates = true }: { readonly updates?: boolean } = {},
  ) {
    this.#updates = updates;
    this.#errors = objects<ApiError>(at(context, "apiErrors"));
    const cacheOnly = at(context, "cacheOnly");
    this.#cacheOnly = new Set(Array.isArray(cacheOnly) ? cacheOnly.map(String) : []);
    for (const [plural, list] of Object.entries(Object(at(input, "objects")) as object)) {
      for (const each of objects<KubeObject>(list)) {
        const object = versioned(each);
        this.#stored.push({ plural, before: object, now: object, deleted: false });
      }
    }
  }

  /** The objects of a kind that the controller's caches hold. */
  cached<T = KubeObject>(plural: string): readonly T[] {
    return this.#stored.filter((each) => each.plural === plural).map(({ before }) => before as T);
  }

  /** The objects of a kind that the API holds. */
  live<T = KubeObject>(plural: string): readonly T[] {
    return this.#live(plural).map(({ now }) => now as T);
  }

  /** Every object of the input. */
  stored(): readonly StoredObject[] {
    return this.#stored.filter((each) => !this.#isCacheOnly(each));
  }

  async write(write: PlannedWrite): Promise<KubeObject | undefined> {
    const verb = verbOf(write, this.#updates);
    const refused = this.#errorFor(write, verb);
    this.writes.push({ write, verb, ...(refused ? { refused } : {}) });
    if (refused) throw refusal(refused);
    return this.#carryOut(write);
  }

  #errorFor(write: PlannedWrite, verb: string): string | undefined {
    const name = nameOf(write);
    return this.#errors.find(
      (each) =>
        each.verb === verb &&
        each.resource === write.resource.plural &&
        (each.subresource ?? "") === (write.kind === "delete" ? "" : (write.subresource ?? "")) &&
        (each.name === undefined || each.name === name),
    )?.error;
  }

  #carryOut(write: PlannedWrite): KubeObject | undefined {
    switch (write.kind) {
      case "create":
        if (write.subresource === undefined && this.#holds(write)) throw refusal("AlreadyExists");
        return write.object;
      case "call":
        return undefined;
      case "delete":
        this.#find(write.resource, write.object).deleted = true;
        return undefined;
      case "patch": {
        const stored = this.#find(write.resource, write.object);
        stored.now = nextVersion(patched(stored.now, write));
        return stored.now;
      }
    }
  }

  #holds({ resource, object }: Extract<PlannedWrite, { kind: "create" }>): boolean {
    const { namespace = "", name } = object.metadata;
    return this.#live(resource.plural).some(
      ({ now: { metadata } }) => metadata.name === name && (metadata.namespace ?? "") === namespace,
    );
  }

  #find(resource: Resource, { namespace = "", name }: ObjectName) {
    const found = this.#live(resource.plural).find(
      ({ now: { metadata } }) => metadata.name === name && (metadata.namespace ?? "") === namespace,
    );
    if (found) return found;
    throw refusal("NotFound");
  }

  #live(plural: string) {
    return this.#stored.filter(
      (each) => each.plural.toLowerCase() === plural.toLowerCase() && !this.#isCacheOnly(each),
    );
  }

  #isCacheOnly({ plural, before }: StoredObject): boolean {
    return this.#cacheOnly.has(`${plural}/${before.metadata.name}`);
  }
}

/** Recorded objects have no version; with one, a write can demand that nobody else has written. */
function versioned(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: "1" } };
}

/**
 * A write that demands a version that another write of the pass has changed fails, as it would in a cluster.
 */
function nextVersion(object: KubeObject): KubeObject {
  const version = Number(object.metadata.resourceVersion) + 1;
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

function patched(now: KubeObject, write: Extract<PlannedWrite, { kind: "patch" }>): KubeObject {
  try {
    return applyJsonPatch(now, write.operations);
  } catch (error) {
    throw refusal("Invalid", error);
  }
}

/** Where KubeVirt updates objects, a patch that demands the version that was read stands for an update. */
function verbOf(write: PlannedWrite, updates: boolean): string {
  if (write.kind === "call") return "put";
  if (write.kind !== "patch" || !updates) return write.kind;
  return write.operations.some(
    ({ op, path }) => op === "test" && path === "/metadata/resourceVersion",
  )
    ? "update"
    : "patch";
}

function nameOf(write: PlannedWrite): string {
  return write.kind === "create" ? text(write.object.metadata.name) : write.object.name;
}

function refusal(error: string, cause?: unknown): KubeError {
  const words = spoken[error];
  const reason = words ? "Forbidden" : error;
  const status = statusCodes[reason] ?? 500;
  return new KubeError("KUBE_STATUS", words ?? `the case refuses it: ${error}`, {
    status,
    reason,
    cause,
  });
}
