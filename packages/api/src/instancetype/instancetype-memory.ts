import { newQuantity, type Quantity, readQuantity } from "../quantity/index.ts";

/** A quantity as written in an object, or `undefined` if it is not one. */
export function quantityOf(value: unknown): Quantity | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const quantity = readQuantity(String(value));
  return typeof quantity === "string" ? undefined : quantity;
}

/** More than 64 bits of memory cannot be requested. */
const largest = 2 ** 63 - 1024;

/**
 * The Pod's request for guest memory that is overcommitted by some percent. Computed in single precision, as in
 * KubeVirt: exact arithmetic would give VMs of one size requests that differ by some bytes from those that run
 * already.
 */
export function overcommittedRequest(guest: Quantity, percent: number): Quantity {
  const share = Math.fround(1 - Math.fround(Math.fround(percent) / 100));
  const bytes = Math.fround(Math.fround(Number(guest.value())) * share);
  const bounded = Math.min(largest, Math.max(-largest, bytes));
  return newQuantity(BigInt(Math.trunc(bounded)), guest.format);
}
