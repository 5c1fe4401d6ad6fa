import { groupOf, objectKinds } from "@virtkit/api/schema";

/**
 * Whether an object names an API group that is not among those of the known kinds, below `root`. A value that
 * is not an object, or has no kind, is not foreign.
 */
export function isForeign(value: unknown, root: string): boolean {
  const { apiVersion, kind } = Object(value) as Record<string, unknown>;
  if (typeof apiVersion !== "string" || typeof kind !== "string") return false;
  const slash = apiVersion.lastIndexOf("/");
  const group = slash < 0 ? "" : apiVersion.slice(0, slash);
  // A known kind in the wrong group is a mistake, not a foreign object.
  if (Object.hasOwn(objectKinds, kind)) return false;
  return !Object.values(objectKinds).some((known) => groupOf(known, root) === group);
}
