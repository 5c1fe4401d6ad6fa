import { newQuantity, type Quantity } from "@virtkit/api/quantity";
import type { VirtualMachineInstanceSpec } from "@virtkit/api/schema";
import { readAmount } from "./read-amount.ts";

const nothing = newQuantity(0, "BinarySI");

/**
 * Whether the VMI asks for a Pod of QoS class Guaranteed: requests equal limits for CPU and memory. A memory
 * limit alone counts, because the request will be set to it.
 */
export function wantsGuaranteedQos(spec: VirtualMachineInstanceSpec): boolean {
  const { limits, requests } = spec.domain.resources ?? {};
  if (!limits || (limits["cpu"] === undefined && limits["memory"] === undefined)) return false;
  const amount = (bound: "limits" | "requests", name: string): Quantity => {
    const value = (bound === "limits" ? limits : requests)?.[name];
    if (value === undefined) return nothing;
    return readAmount(value, `spec.domain.resources.${bound}.${name}`);
  };
  const cpu = amount("requests", "cpu");
  if (cpu.isZero() || !cpu.equals(amount("limits", "cpu"))) return false;
  const memory = amount("requests", "memory");
  const limit = amount("limits", "memory");
  return memory.isZero() ? !limit.isZero() : memory.equals(limit);
}
