import { maxQuantityLength, scanQuantity } from "../quantity/scan-quantity.ts";
import { interpretSuffix, maxQuantityExponent } from "../quantity/suffix.ts";
import type { Schema } from "./schema.ts";

/**
 * A Kubernetes quantity in a manifest: `"2Gi"`, `"500m"`, `3`.
 *
 * A number must be whole, as in the API server; a fraction is written as a string.
 */
export type QuantityInput = string | number;

export const QuantityInputSchema: Schema<QuantityInput> = { kind: "quantity" };

/** The format of a quantity, for CRDs: a regular expression that works in both Go and JavaScript. */
export const quantityPattern =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

const written = new RegExp(quantityPattern);

/** What nearly every manifest has; no need to parse the number. */
const plain = /^\d{1,15}(?:[KMGTPE]i|[mkMGTPE])?$/;

/**
 * Whether a string is a quantity both for the CRD's pattern, which refuses `Gi`, and for the parser, which
 * refuses `1e1.5`. Does not check whether its size makes sense.
 */
export function isQuantityText(text: string): boolean {
  if (plain.test(text)) return true;
  if (text.length > maxQuantityLength || !written.test(text)) return false;
  // The parser could still refuse the suffix. Calling the parser would load all of it.
  const { exponent } = interpretSuffix(scanQuantity(text).suffix) ?? {};
  return exponent !== undefined && Math.abs(exponent) <= maxQuantityExponent;
}
