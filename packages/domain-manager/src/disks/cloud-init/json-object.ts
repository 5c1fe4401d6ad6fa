import { goJson } from "@virtkit/api/go-json";

/**
 * An object from fields with JSON values, in this order, without undefined ones. The input is a
 * list of pairs, because a JavaScript object would put the keys `0` to `11` in numeric order.
 */
export function jsonObject(fields: Iterable<readonly [string, string | undefined]>): string {
  const written: string[] = [];
  for (const [name, value] of fields) {
    if (value !== undefined) written.push(`${goJson(name)}:${value}`);
  }
  return `{${written.join(",")}}`;
}
