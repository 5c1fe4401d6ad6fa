const escapes: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/**
 * JSON as Go's encoder writes it, which is how KubeVirt writes annotations. A rewrite that differs only
 * in escapes would look like a change, and a change of these annotations makes Multus act.
 */
export function annotationJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (char) => escapes[char] ?? char);
}
