import { at, text } from "@virtkit/api/shape";
import type { ObjectName } from "@virtkit/kube";

/** The name of an object, and its namespace if it has one. */
export function nameOf(object: unknown): ObjectName & { readonly name: string } {
  const namespace = text(at(object, "metadata", "namespace"));
  const name = text(at(object, "metadata", "name"));
  return namespace ? { namespace, name } : { name };
}

/** The UID of an object; empty if it has none. */
export function uidOf(object: unknown): string {
  return text(at(object, "metadata", "uid"));
}
