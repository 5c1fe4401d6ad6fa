import type { ObjectName, Patch, StatusCause } from "@virtkit/kube";
import { isJsonObject, sameJson } from "./json.ts";
import { fieldName, isListItem, keyed, unkeyed } from "./keyed-lists.ts";
import type { AnyObject, Kind } from "./kind.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { badRequest, statusError } from "./status-error.ts";

/** Which fields a manager has applied: the leaves of what it sent, as JSON pointers in a list. */
interface Manager {
  readonly manager: string;
  readonly operation: "Apply";
  readonly fields: readonly string[];
}

/**
 * Server-side apply: the object with the fields that are sent, without those that the same manager sent
 * before and now leaves out. Lists with keys are merged by them, others are replaced. A field of another
 * manager with another value is a conflict, unless `force` takes it over. Fields that were written in another
 * way belong to nobody here, so anybody may apply them; a real server would ask for `force` there.
 */
export function applyObject(
  kind: Kind,
  at: ObjectName,
  patch: Extract<Patch, { type: "apply" }>,
  stored: AnyObject | undefined,
  manager: string,
): AnyObject {
  const { force = false } = patch;
  if (!isJsonObject(patch.body)) throw badRequest("an applied object must be an object");
  if (patch.body["apiVersion"] === undefined || patch.body["kind"] === undefined) {
    throw badRequest("an applied object must have apiVersion and kind");
  }
  // The lists of a custom resource have no keys unless its schema says so, which none of ours does.
  const merging = kind.strategicPatch ? keyed : (value: unknown) => value;
  const body = merging(patch.body);
  const found = stored && (merging(stored) as AnyObject);
  const sent = leaves(body).filter((path) => !identity.has(path));
  const managers = managersOf(stored);
  const others = managers.filter((each) => each.manager !== manager);
  const conflicts = others.flatMap((other) =>
    other.fields
      .filter((path) => sent.includes(path) && !sameJson(valueAt(body, path), valueAt(found, path)))
      .map((path) => ({ other, path })),
  );
  if (conflicts.length > 0 && !force) throw conflictOf(kind, at, conflicts);
  const before = managers.find((each) => each.manager === manager)?.fields ?? [];
  const dropped = before.filter(
    (path) => !sent.includes(path) && !others.some(({ fields }) => fields.includes(path)),
  );
  const joined = applyMergePatch(found ?? {}, body) as AnyObject;
  for (const path of dropped) removeAt(joined, path);
  const merged = unkeyed(joined) as AnyObject;
  const taken = others.map((other) => ({
    ...other,
    fields: other.fields.filter((path) => !conflicts.some((each) => each.path === path)),
  }));
  const managedFields = [...taken, { manager, operation: "Apply", fields: sent }];
  const { namespace, name } = at;
  return {
    ...merged,
    metadata: { ...merged.metadata, name, ...(namespace ? { namespace } : {}), managedFields },
  };
}

/** What names an object is nobody's field. */
const identity = new Set(["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace"]);

function managersOf(object: AnyObject | undefined): readonly Manager[] {
  return (object?.metadata.managedFields ?? []) as readonly Manager[];
}

function conflictOf(
  kind: Kind,
  { name }: ObjectName,
  conflicts: readonly { other: Manager; path: string }[],
) {
  const causes: StatusCause[] = conflicts.map(({ other, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${JSON.stringify(other.manager)}`,
    field: `.${fieldName(keysOf(path))}`,
  }));
  const message = `Apply failed with ${conflicts.length} conflicts on ${kind.resource.plural} "${name}"`;
  return statusError({ status: 409, reason: "Conflict", message, causes });
}

/** The pointers of all values that are not objects. */
function leaves(value: unknown, path = ""): string[] {
  if (!isJsonObject(value)) return [path];
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  if (keys.length === 0) return path === "" ? [] : [path];
  return keys.flatMap((key) =>
    leaves(value[key], `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
  );
}

function keysOf(path: string): string[] {
  return path
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function valueAt(object: unknown, path: string): unknown {
  return keysOf(path).reduce<unknown>((value, key) => Object(value)[key], object);
}

/** Removes a field; the objects on the way are copies already. An item of a list of which nothing is left goes. */
function removeAt(object: AnyObject, path: string): void {
  const names = keysOf(path);
  const last = names.pop() ?? "";
  const parents: Record<string, unknown>[] = [object as unknown as Record<string, unknown>];
  for (const name of names) {
    const parent = parents.at(-1) ?? {};
    const child = parent[name];
    if (!isJsonObject(child)) return;
    const copy = { ...child };
    parent[name] = copy;
    parents.push(copy);
  }
  delete parents.at(-1)?.[last];
  for (let depth = names.length; depth > 0; depth--) {
    const name = names[depth - 1] ?? "";
    if (!isListItem(name) || Object.keys(parents[depth] ?? {}).length > 0) return;
    delete parents[depth - 1]?.[name];
  }
}
