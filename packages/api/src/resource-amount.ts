import { newQuantity, Quantity, readQuantity } from "./quantity/index.ts";
import type { QuantityInput, ResourceRequirements } from "./schema/index.ts";

/** The value of a missing amount. */
export const zero: Quantity = newQuantity(0, "DecimalSI");

/** One gibibyte, in bytes. */
export const gibibyte: bigint = 1n << 30n;

/**
 * Amounts that were read before, by their text: the rules read the same few again and again. Bounded in number
 * and length, so that nobody can fill the memory.
 */
const known = new Map<string, Quantity>();
const mostKnown = 1000;
const longestKnown = 32;

/**
 * The amount in a field of an object; {@link zero} if it is missing, as in Go, or is not a quantity, which
 * does not happen in a checked object.
 */
export function amountOf(input: QuantityInput | null | undefined): Quantity {
  if (input === undefined || input === null) return zero;
  const text = String(input);
  let amount = known.get(text);
  if (amount) return amount;
  const quantity = readQuantity(text);
  amount = quantity instanceof Quantity ? quantity : zero;
  if (text.length <= longestKnown) {
    if (known.size >= mostKnown) known.clear();
    known.set(text, amount);
  }
  return amount;
}

/** The two lists of `spec.domain.resources`. */
export type ResourceList = "requests" | "limits";

/** The raw entry of a resource list, `undefined` if there is none. */
export function resource(
  resources: ResourceRequirements | undefined,
  list: ResourceList,
  name: "cpu" | "memory",
): QuantityInput | undefined {
  return resources?.[list]?.[name] ?? undefined;
}

/** An entry of a resource list as an amount, {@link zero} if there is none. */
export function resourceAmount(
  resources: ResourceRequirements | undefined,
  list: ResourceList,
  name: "cpu" | "memory",
): Quantity {
  return amountOf(resources?.[list]?.[name]);
}
