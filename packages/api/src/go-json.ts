const escapes: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/**
 * JSON as Go's encoder writes it, so that annotations and metadata have the same bytes as KubeVirt's. A
 * different escape would look like a change: Multus acts on a changed annotation, and a guest sees changed
 * metadata.
 */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (char) => escapes[char] ?? char);
}
