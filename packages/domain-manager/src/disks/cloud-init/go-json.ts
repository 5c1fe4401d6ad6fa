const escapes: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/**
 * A string as Go's encoder writes it, so that metadata has the same bytes as KubeVirt's and a guest
 * that moves from one to the other sees no change.
 */
export function goJsonString(text: string): string {
  return JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, (letter) => escapes[letter] ?? letter);
}

/**
 * An object of fields whose values are JSON already, in this order, without those that are undefined.
 * A list of pairs, for a JavaScript object would put the keys `0` to `11` in numeric order.
 */
export function jsonObject(fields: Iterable<readonly [string, string | undefined]>): string {
  const written: string[] = [];
  for (const [name, value] of fields) {
    if (value !== undefined) written.push(`${goJsonString(name)}:${value}`);
  }
  return `{${written.join(",")}}`;
}
