import { goJson } from "@virtkit/api/go-json";

/**
 * An object of fields whose values are JSON already, in this order, without those that are undefined.
 * A list of pairs, for a JavaScript object would put the keys `0` to `11` in numeric order.
 */
export function jsonObject(fields: Iterable<readonly [string, string | undefined]>): string {
  const written: string[] = [];
  for (const [name, value] of fields) {
    if (value !== undefined) written.push(`${goJson(name)}:${value}`);
  }
  return `{${written.join(",")}}`;
}
