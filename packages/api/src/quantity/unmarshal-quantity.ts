import { int64Amount } from "./amount.ts";
import { parseQuantity } from "./parse-quantity.ts";
import { Quantity } from "./quantity.ts";

/** What Go's strings.TrimSpace treats as space; differs from String.prototype.trim in two characters. */
const space = "[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*";
const trimmed = new RegExp(`^${space}([^]*?)${space}$`);

/**
 * Decodes the JSON text of a quantity as Kubernetes does, by removing the quotes: escapes are not interpreted,
 * space inside the quotes is removed, and `null` is a zero without a format.
 *
 * For a value that is already decoded, use `quantityFrom`.
 */
export function unmarshalQuantity(json: string): Quantity {
  if (json === "null") return new Quantity(int64Amount(0, 0), "");
  const quoted = json.length >= 2 && json.startsWith('"') && json.endsWith('"');
  const inner = quoted ? json.slice(1, -1) : json;
  return parseQuantity(trimmed.exec(inner)?.[1] ?? inner);
}
