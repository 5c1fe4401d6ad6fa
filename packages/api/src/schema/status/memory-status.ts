import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import { object, type Schema } from "../schema.ts";

/** The guest's memory, which can change while it runs. */
export interface MemoryStatus {
  guestAtBoot?: QuantityInput;
  guestCurrent?: QuantityInput;
  guestRequested?: QuantityInput;
  memoryOverhead?: QuantityInput;
}

export const MemoryStatusSchema: Schema<MemoryStatus> = object<MemoryStatus>({
  guestAtBoot: QuantityInputSchema,
  guestCurrent: QuantityInputSchema,
  guestRequested: QuantityInputSchema,
  memoryOverhead: QuantityInputSchema,
});
