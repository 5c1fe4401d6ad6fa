import { newQuantity, type Quantity, readQuantity } from "../quantity/index.ts";

/** A quantity as it stands in an object, or `undefined` if it is none. */
export function quantityOf(value: unknown): Quantity | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const quantity = readQuantity(String(value));
  return typeof quantity === "string" ? undefined : quantity;
}

/** Beyond what 64 bits hold there is no memory to request. */
const largest = 2 ** 63 - 1024;

/**
 * What the Pod requests of a guest's memory that is overcommitted by some percent. Computed in single
 * precision, as KubeVirt does: exact arithmetic would give VMs of one size requests that differ by
 * some bytes from those that run already.
 */
export function overcommittedRequest(guest: Quantity, percent: number): Quantity {
  const share = Math.fround(1 - Math.fround(Math.fround(percent) / 100));
  const bytes = Math.fround(Math.fround(Number(guest.value())) * share);
  const bounded = Math.min(largest, Math.max(-largest, bytes));
  return newQuantity(BigInt(Math.trunc(bounded)), guest.format);
}
