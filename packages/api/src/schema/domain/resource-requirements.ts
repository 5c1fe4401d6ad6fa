import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import { boolean, map, object, type Schema } from "../schema.ts";

/** Resources of the launcher Pod, of which the guest's are derived where it states none. */
export interface ResourceRequirements {
  limits?: Record<string, QuantityInput>;
  /** Do not ask the scheduler for the memory that the hypervisor itself needs. */
  overcommitGuestOverhead?: boolean;
  requests?: Record<string, QuantityInput>;
}

export const ResourceRequirementsSchema: Schema<ResourceRequirements> =
  object<ResourceRequirements>({
    limits: map(QuantityInputSchema),
    overcommitGuestOverhead: boolean,
    requests: map(QuantityInputSchema),
  });
