import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import { object, type Schema } from "../schema.ts";

/** The guest's memory, which can change while it runs. */
export interface MemoryStatus {
  /** What the guest was started with. */
  guestAtBoot?: QuantityInput;
  /** What it has now. */
  guestCurrent?: QuantityInput;
  /** What it was asked to take, and may not have taken yet. */
  guestRequested?: QuantityInput;
  /** What the hypervisor needs besides. */
  memoryOverhead?: QuantityInput;
}

export const MemoryStatusSchema: Schema<MemoryStatus> = object<MemoryStatus>({
  guestAtBoot: QuantityInputSchema,
  guestCurrent: QuantityInputSchema,
  guestRequested: QuantityInputSchema,
  memoryOverhead: QuantityInputSchema,
});
