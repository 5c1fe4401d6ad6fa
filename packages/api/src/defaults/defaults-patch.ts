/** One step of an RFC 6902 patch. */
export interface JsonPatchOperation {
  readonly op: "add" | "replace" | "remove" | "test";
  readonly path: string;
  readonly value?: unknown;
}

/**
 * The JSON patch that turns an object into its defaulted form: it replaces the named parts as a
 * whole, as KubeVirt does. The API server also lets `replace` create a part that is missing.
 */
export function defaultsPatch(
  defaulted: object,
  parts: readonly ("spec" | "metadata" | "status")[],
): readonly JsonPatchOperation[] {
  const values = defaulted as Readonly<Record<string, unknown>>;
  return parts.map((part) => ({ op: "replace", path: `/${part}`, value: values[part] }));
}
