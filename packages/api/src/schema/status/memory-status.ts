import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import { object, type Schema } from "../schema.ts";

/** The guest's memory, which can change while it runs. */
export interface MemoryStatus {
  /** The amount at the start. */
  guestAtBoot?: QuantityInput;
  /** The present amount. */
  guestCurrent?: QuantityInput;
  /** The requested amount, which the guest may not have applied yet. */
  guestRequested?: QuantityInput;
  /** The additional memory of the hypervisor. */
  memoryOverhead?: QuantityInput;
}

export const MemoryStatusSchema: Schema<MemoryStatus> = object<MemoryStatus>({
  guestAtBoot: QuantityInputSchema,
  guestCurrent: QuantityInputSchema,
  guestRequested: QuantityInputSchema,
  memoryOverhead: QuantityInputSchema,
});
