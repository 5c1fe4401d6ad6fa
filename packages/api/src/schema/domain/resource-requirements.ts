import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import { boolean, map, object, type Schema } from "../schema.ts";

/** Resources of the launcher Pod; the guest's follow from them if it sets none. */
export interface ResourceRequirements {
  limits?: Record<string, QuantityInput>;
  /** Does not request memory for the hypervisor's overhead from the scheduler. */
  overcommitGuestOverhead?: boolean;
  requests?: Record<string, QuantityInput>;
}

export const ResourceRequirementsSchema: Schema<ResourceRequirements> =
  object<ResourceRequirements>({
    limits: map(QuantityInputSchema),
    overcommitGuestOverhead: boolean,
    requests: map(QuantityInputSchema),
  });
