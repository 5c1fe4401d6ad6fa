import { newQuantity, Quantity, readQuantity } from "./quantity/index.ts";
import type { QuantityInput, ResourceRequirements } from "./schema/index.ts";

/** What an absent amount counts as. */
export const zero: Quantity = newQuantity(0, "DecimalSI");

/** One gibibyte, in bytes. */
export const gibibyte: bigint = 1n << 30n;

/**
 * The amount that a field of an object holds; {@link zero} if it is absent, as in Go, and also if it
 * is no quantity, which a checked object never has.
 */
export function amountOf(input: QuantityInput | null | undefined): Quantity {
  if (input === undefined || input === null) return zero;
  const quantity = readQuantity(String(input));
  return quantity instanceof Quantity ? quantity : zero;
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
