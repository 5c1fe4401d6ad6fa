import { groupOf, objectKinds } from "@virtkit/api/schema";

/**
 * Whether an object names an API group that is not among those of the kinds that are known; `root` is
 * the root of those. What is no object, or does not say what it is, is nobody else's.
 */
export function isForeign(value: unknown, root: string): boolean {
  const { apiVersion, kind } = Object(value) as Record<string, unknown>;
  if (typeof apiVersion !== "string" || typeof kind !== "string") return false;
  const slash = apiVersion.lastIndexOf("/");
  const group = slash < 0 ? "" : apiVersion.slice(0, slash);
  // A known kind in the wrong group is a mistake, not somebody else's object.
  if (Object.hasOwn(objectKinds, kind)) return false;
  return !Object.values(objectKinds).some((known) => groupOf(known, root) === group);
}
