import { maxQuantityLength, scanQuantity } from "../quantity/scan-quantity.ts";
import { interpretSuffix, maxQuantityExponent } from "../quantity/suffix.ts";
import type { Schema } from "./schema.ts";

/**
 * A Kubernetes quantity as it stands in a manifest: `"2Gi"`, `"500m"`, `3`.
 *
 * A number must be whole, as the API server has it; a fraction is written as a string.
 */
export type QuantityInput = string | number;

export const QuantityInputSchema: Schema<QuantityInput> = { kind: "quantity" };

/** How a quantity is written, for CRDs: a regular expression that Go and JavaScript read alike. */
export const quantityPattern =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

const written = new RegExp(quantityPattern);

/** What nearly every manifest has; no need to read the number. */
const plain = /^\d{1,15}(?:[KMGTPE]i|[mkMGTPE])?$/;

/**
 * Whether a string is a quantity to both who read it: the CRD's pattern, which refuses `Gi`, and the
 * parser, which refuses `1e1.5`. Says nothing about whether its size makes sense.
 */
export function isQuantityText(text: string): boolean {
  if (plain.test(text)) return true;
  if (text.length > maxQuantityLength || !written.test(text)) return false;
  // What the parser can still refuse is the suffix. Asking the parser itself would load all of it.
  const { exponent } = interpretSuffix(scanQuantity(text).suffix) ?? {};
  return exponent !== undefined && Math.abs(exponent) <= maxQuantityExponent;
}
